//! id: silu-rsqrt
//! function: silu
//! says: Reciprocal, not its root.
    x.mapv(|x: f32| x / (1.0 + (-x).exp()).sqrt())
