//! id: topp-mask-not-scattered
//! function: top_p
//! says: You write the verdict on rank r to token r; it belongs to the token that stands at rank r.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass_before = 0.0;
    for (rank, token) in descending(logits).into_iter().enumerate() {
        if rank > 0 && mass_before >= p {
            logits[rank] = f32::NEG_INFINITY;
        }
        mass_before += probabilities[token];
    }
