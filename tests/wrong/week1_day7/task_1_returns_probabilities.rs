//! id: temperature-on-probabilities
//! function: apply_temperature
//! says: You leave probabilities behind, the softmax of the divided logits; the steps that follow expect logits.
    if temperature == 0.0 {
        let best = argmax(logits) as usize;
        for (i, logit) in logits.iter_mut().enumerate() {
            if i != best {
                *logit = f32::NEG_INFINITY;
            }
        }
    } else {
        for logit in logits.iter_mut() {
            *logit /= temperature;
        }
        let probabilities = probabilities(logits);
        logits.copy_from_slice(&probabilities);
    }
