//! id: mlp-wrong-activation
//! function: silu
//! says: This is x · σ(1.702·x), a quick form of GELU: in SiLU it is σ of x itself.
    x.mapv(|x| x / (1.0 + (-1.702 * x).exp()))
