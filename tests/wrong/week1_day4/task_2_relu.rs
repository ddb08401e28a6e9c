//! id: mlp-wrong-activation
//! function: silu
//! says: This is ReLU, max(x, 0): SiLU is x · σ(x), and a little below 0 on the left.
    x.mapv(|x| x.max(0.0))
