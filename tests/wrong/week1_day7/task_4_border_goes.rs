//! id: minp-drops-the-border
//! function: min_p
//! says: At p = 1 you rule out the most probable tokens too: a token that is exactly p times as probable as the best one stays.
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for logit in logits {
        if (*logit - max).exp() <= p {
            *logit = f32::NEG_INFINITY;
        }
    }
