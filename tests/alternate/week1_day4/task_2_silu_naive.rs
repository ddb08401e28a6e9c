//! function: silu
//! how: TODO
    x.mapv(|x: f32| x / (1.0 + (-x).exp()))
