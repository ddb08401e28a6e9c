//! id: silu-sign
//! function: silu
//! says: Above 0 this is SiLU, but below 0 it is x · σ(−x), which comes close to x: SiLU, x · σ(x), comes close to 0 there.
    x.mapv(|x| x / (1.0 + (-x.abs()).exp()))
