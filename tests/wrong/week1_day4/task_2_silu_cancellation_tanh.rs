//! id: silu-cancellation
//! function: silu
//! says: tanh form cancels
    x.mapv(|x: f32| x * 0.5 * (1.0 + (0.5 * x).tanh()))
