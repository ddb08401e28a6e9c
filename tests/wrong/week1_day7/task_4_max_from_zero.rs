//! id: minp-max-from-zero
//! function: min_p
//! says: With negative logits alone you compare with a maximum of 0; the search for the largest starts at −∞.
    let max = logits.iter().fold(0.0f32, |m, &v| m.max(v));
    for logit in logits {
        if (*logit - max).exp() < p {
            *logit = f32::NEG_INFINITY;
        }
    }
