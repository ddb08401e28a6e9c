//! id: topp-cumsum-of-logs
//! function: top_p
//! says: You rule out no token at all. A sum of logarithms, which are negative, would never reach p: sum probabilities.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass_before = 0.0;
    for &token in &descending(logits) {
        if mass_before >= p {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += probabilities[token].ln();
    }
