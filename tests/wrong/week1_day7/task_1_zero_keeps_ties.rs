//! id: temp0-keeps-ties
//! function: apply_temperature
//! says: At temperature 0 you keep all logits that are the largest; only the first of them stays.
    if temperature == 0.0 {
        let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
        for logit in logits {
            if *logit < max {
                *logit = f32::NEG_INFINITY;
            }
        }
    } else {
        for logit in logits {
            *logit /= temperature;
        }
    }
