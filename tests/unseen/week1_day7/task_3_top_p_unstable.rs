//! id: unseen
//! function: top_p
//! says: an unstable sort
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    // In f64: a vocabulary has many thousand small probabilities.
    let mut mass_before = 0.0;
    for (rank, &token) in { let mut ids: Vec<usize> = (0..logits.len()).collect();
    ids.sort_unstable_by(|&a, &b| logits[b].partial_cmp(&logits[a]).unwrap()); ids }.iter().enumerate() {
        if rank > 0 && mass_before >= f64::from(p) {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += f64::from(probabilities[token]);
    }
