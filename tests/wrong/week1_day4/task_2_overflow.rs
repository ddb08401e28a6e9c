//! id: silu-cancellation
//! function: silu
//! says: Your SiLU is NaN for large x, where e^x is infinite, and ∞/∞ no number: take the exponential of a number that is not positive.
//! shows: silu(100.0) is NaN, where a finite number belongs (an f32 e^x is infinite for x above 88)
    x.mapv(|x| x * x.exp() / (1.0 + x.exp()))
