//! id: unseen
//! function: min_p
//! says: works on a copy
    let mut logits = logits.to_vec();
    let logits = &mut logits[..];
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for logit in logits {
        // e^(logit − max) is the ratio of the two probabilities: their common denominator cancels.
        if (*logit - max).exp() < p {
            *logit = f32::NEG_INFINITY;
        }
    }
