//! id: topp-on-logits
//! function: top_p
//! says: Only the most probable token stays, whatever p: what you sum passes p at once, so it is not probabilities that sum to 1.
    if p >= 1.0 {
        return;
    }
    let mut mass_before = 0.0;
    for (rank, &token) in descending(logits).iter().enumerate() {
        let logit = logits[token];
        if rank > 0 && mass_before >= p {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += logit;
    }
