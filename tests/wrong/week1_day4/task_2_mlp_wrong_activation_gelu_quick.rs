//! id: mlp-wrong-activation
//! function: silu
//! says: hidden_act is silu.
    x.mapv(|x: f32| x / (1.0 + (-1.702 * x).exp()))
