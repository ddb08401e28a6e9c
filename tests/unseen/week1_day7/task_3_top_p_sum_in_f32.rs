//! id: unseen
//! function: top_p
//! says: running sum in f32
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    // In f64: a vocabulary has many thousand small probabilities.
    let mut mass_before = 0.0f32;
    for (rank, &token) in descending(logits).iter().enumerate() {
        if rank > 0 && mass_before >= p {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += probabilities[token];
    }
