//! id: topp-drops-crossing
//! function: top_p
//! says: You rule out the token that crosses p: a token stays if the mass before it, not the mass with it, is less than p.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass = 0.0;
    for (rank, &token) in descending(logits).iter().enumerate() {
        mass += probabilities[token];
        if rank > 0 && mass > p {
            logits[token] = f32::NEG_INFINITY;
        }
    }
