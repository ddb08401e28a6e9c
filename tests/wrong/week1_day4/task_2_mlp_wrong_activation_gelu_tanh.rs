//! id: mlp-wrong-activation
//! function: silu
//! says: hidden_act is silu.
    x.mapv(|x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()))
