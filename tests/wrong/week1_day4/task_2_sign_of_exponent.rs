//! id: silu-sign
//! function: silu
//! says: The sign of your exponent is wrong: this is x · σ(−x), or x / (1 + e^x).
    x.mapv(|x| x / (1.0 + x.exp()))
