//! id: silu-cancellation
//! function: silu
//! says: e^x overflows above 88.
    x.mapv(|x: f32| x * x.exp() / (1.0 + x.exp()))
