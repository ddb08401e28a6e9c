//! id: silu-cancellation
//! function: silu
//! says: Your SiLU loses its digits far below 0: the small numbers there are a difference of numbers near 1, or are cut off to 0.
    x.mapv(|x| {
        let sigmoid = 1.0 / (1.0 + (-x.abs()).exp());
        if x >= 0.0 { x * sigmoid } else { x * (1.0 - sigmoid) }
    })
