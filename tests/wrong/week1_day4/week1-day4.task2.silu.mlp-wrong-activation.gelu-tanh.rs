//! mlp-wrong-activation: hidden_act is silu.
//! wrong body for week1-day4 task 2: mlp.rs, silu
    x.mapv(|x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()))
