//! id: minp-exp-overflows
//! function: min_p
//! says: With logits near 100 you rule out no token: e^100 overflows f32; subtract the largest logit before exp.
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for logit in logits {
        if logit.exp() / max.exp() < p {
            *logit = f32::NEG_INFINITY;
        }
    }
