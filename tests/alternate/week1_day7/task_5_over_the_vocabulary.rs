//! function: repetition_penalty
//! how: asks for each token of the vocabulary whether it was seen
    for (token, logit) in logits.iter_mut().enumerate() {
        if seen.contains(&(token as u32)) {
            *logit = if *logit < 0.0 { *logit * penalty } else { *logit / penalty };
        }
    }
