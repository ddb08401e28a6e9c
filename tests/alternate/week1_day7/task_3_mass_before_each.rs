//! function: top_p
//! how: for each rank the mass of all ranks before it, summed anew
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let order = descending(logits);
    for (rank, &token) in order.iter().enumerate().skip(1) {
        let before: f64 = order[..rank].iter().map(|&other| f64::from(probabilities[other])).sum();
        if before >= f64::from(p) {
            logits[token] = f32::NEG_INFINITY;
        }
    }
