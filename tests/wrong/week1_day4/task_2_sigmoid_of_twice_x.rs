//! id: mlp-wrong-activation
//! function: silu
//! says: This is x · σ(2x): in SiLU it is σ of x itself.
    x.mapv(|x| x / (1.0 + (-2.0 * x).exp()))
