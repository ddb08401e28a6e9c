//! id: silu-cancellation
//! function: silu
//! says: Your SiLU loses its digits far below 0: the small numbers there are a difference of numbers near 1, or are cut off to 0.
    x.mapv(|x| if x >= 0.0 { x / (1.0 + (-x).exp()) } else { x - x / (1.0 + x.exp()) })
