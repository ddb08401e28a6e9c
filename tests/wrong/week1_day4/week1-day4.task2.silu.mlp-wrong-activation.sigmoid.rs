//! mlp-wrong-activation: hidden_act is silu.
//! wrong body for week1-day4 task 2: mlp.rs, silu
    x.mapv(|x: f32| 1.0 / (1.0 + (-x).exp()))
