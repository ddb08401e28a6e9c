//! function: min_p
//! how: by softmax, as the definition says
    let probabilities = probabilities(logits);
    let max = probabilities.iter().fold(0.0f32, |m, &v| m.max(v));
    for (logit, probability) in logits.iter_mut().zip(probabilities) {
        if probability < p * max {
            *logit = f32::NEG_INFINITY;
        }
    }
