//! id: argmax-from-zero
//! function: argmax
//! says: Your search begins at 0 or just above it, so where every logit is negative it finds none: begin with the first logit, or at −∞.
    let (mut best, mut max) = (0, 0.0);
    for (i, &logit) in logits.iter().enumerate() {
        if logit > max {
            (best, max) = (i, logit);
        }
    }
    best as u32
