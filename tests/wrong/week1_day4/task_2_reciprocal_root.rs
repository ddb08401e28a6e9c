//! id: silu-rsqrt
//! function: silu
//! says: You divide x by the root of 1 + e^(−x): SiLU divides it by 1 + e^(−x) itself.
    x.mapv(|x| x / (1.0 + (-x).exp()).sqrt())
