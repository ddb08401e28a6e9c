//! id: topp-ascending
//! function: top_p
//! says: You sum from the least probable token up, and so rule out the most probable ones; go from the most probable one down.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass_before = 0.0;
    for &token in descending(logits).iter().rev() {
        if mass_before >= p {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += probabilities[token];
    }
