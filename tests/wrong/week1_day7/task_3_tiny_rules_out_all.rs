//! id: topp-tiny-masks-all
//! function: top_p
//! says: You rule out the token that crosses p, and so all tokens when p is small; a token stays if the mass before it is less than p.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass = 0.0;
    for &token in &descending(logits) {
        mass += probabilities[token];
        if mass > p {
            logits[token] = f32::NEG_INFINITY;
        }
    }
