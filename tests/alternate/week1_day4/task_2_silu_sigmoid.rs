//! function: silu
//! how: see the name
    x.mapv(|x: f32| x * (1.0 / (1.0 + (-x).exp())))
