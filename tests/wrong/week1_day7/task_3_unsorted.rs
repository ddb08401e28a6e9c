//! id: topp-unsorted-cumsum
//! function: top_p
//! says: You sum in the order of the ids; go from the most probable token down.
    if p >= 1.0 {
        return;
    }
    let probabilities = probabilities(logits);
    let mut mass_before = 0.0;
    for (logit, probability) in logits.iter_mut().zip(probabilities) {
        if mass_before >= p {
            *logit = f32::NEG_INFINITY;
        }
        mass_before += probability;
    }
