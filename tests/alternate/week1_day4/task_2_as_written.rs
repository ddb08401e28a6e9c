//! function: silu
//! how: the formula as it stands: e^(−x) may be infinite below −88, and x/∞ is 0
    x.mapv(|x| x / (1.0 + (-x).exp()))
