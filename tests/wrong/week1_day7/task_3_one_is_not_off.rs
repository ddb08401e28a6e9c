//! id: topp-one-not-off
//! function: top_p
//! says: At p = 1 you rule out tokens once the rounded sum reaches 1; p ≥ 1 keeps all.
//! shows: p = 1 keeps all, also a token whose probability is rounded to 0
    let probabilities = probabilities(logits);
    let mut mass_before = 0.0;
    for (rank, &token) in descending(logits).iter().enumerate() {
        if rank > 0 && mass_before >= p {
            logits[token] = f32::NEG_INFINITY;
        }
        mass_before += probabilities[token];
    }
