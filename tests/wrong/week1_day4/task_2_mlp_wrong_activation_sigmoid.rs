//! id: mlp-wrong-activation
//! function: silu
//! says: hidden_act is silu.
    x.mapv(|x: f32| 1.0 / (1.0 + (-x).exp()))
