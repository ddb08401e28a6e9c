//! id: temp0-keeps-last
//! function: apply_temperature
//! says: At temperature 0 you keep the last of the equal largest logits, as max_by does; the first one stays.
    if temperature == 0.0 {
        let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("a logit");
        for (i, logit) in logits.iter_mut().enumerate() {
            if i != best {
                *logit = f32::NEG_INFINITY;
            }
        }
    } else {
        for logit in logits {
            *logit /= temperature;
        }
    }
