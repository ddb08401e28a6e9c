//! id: unseen
//! function: top_p
//! says: works on a copy of the logits
    if p >= 1.0 {
        return;
    }
    let mut logits = logits.to_vec();
    let logits = &mut logits[..];
    let probabilities = probabilities(logits);
    // In f64: a vocabulary has many thousand small probabilities.
    let mut mass_before = 0.0;
    for (rank, &token) in descending(logits).iter().enumerate() {
        if rank > 0 && mass_before >= f64::from(p) {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += f64::from(probabilities[token]);
    }
