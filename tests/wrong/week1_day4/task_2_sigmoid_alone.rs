//! id: mlp-wrong-activation
//! function: silu
//! says: This is σ(x) alone: SiLU multiplies it by x.
    x.mapv(|x| 1.0 / (1.0 + (-x).exp()))
