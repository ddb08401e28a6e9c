//! id: draw-single-probability
//! function: draw
//! says: You compare the probability of each single token with the number; it is the running sum that must exceed it.
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        if f64::from(probability) > uniform {
            return token as u32;
        }
    }
    argmax(logits)
