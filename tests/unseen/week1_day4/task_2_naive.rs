//! id: unseen
//! function: silu
//! says: x / (1 + e^-x)
    x.mapv(|x| x / (1.0 + (-x).exp()))
