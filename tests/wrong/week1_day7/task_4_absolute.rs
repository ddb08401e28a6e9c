//! id: minp-absolute
//! function: min_p
//! says: You compare each probability with p itself; compare it with p times the largest probability.
    let probabilities = probabilities(logits);
    for (logit, probability) in logits.iter_mut().zip(probabilities) {
        if probability < p {
            *logit = f32::NEG_INFINITY;
        }
    }
