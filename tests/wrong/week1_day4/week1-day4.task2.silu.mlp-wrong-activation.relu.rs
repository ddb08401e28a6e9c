//! mlp-wrong-activation: hidden_act is silu.
//! wrong body for week1-day4 task 2: mlp.rs, silu
    x.mapv(|x: f32| x.max(0.0))
