//! id: mlp-wrong-activation
//! function: silu
//! says: This is GELU, which looks almost the same: SiLU is x · σ(x).
    x.mapv(|x| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()))
