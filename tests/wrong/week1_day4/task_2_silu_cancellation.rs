//! id: silu-cancellation
//! function: silu
//! says: Use e^x/(1+e^x) below 0.
    x.mapv(|x: f32| { let s = 1.0 / (1.0 + (-x.abs()).exp()); if x >= 0.0 { x * s } else { x * (1.0 - s) } })
