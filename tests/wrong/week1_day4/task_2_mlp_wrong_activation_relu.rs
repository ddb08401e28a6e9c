//! id: mlp-wrong-activation
//! function: silu
//! says: hidden_act is silu.
    x.mapv(|x: f32| x.max(0.0))
