//! id: minp-on-logits
//! function: min_p
//! says: You compare logits with p times the largest logit; the ratio that counts is one of probabilities, e^(logit − max).
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for logit in logits {
        if *logit < p * max {
            *logit = f32::NEG_INFINITY;
        }
    }
