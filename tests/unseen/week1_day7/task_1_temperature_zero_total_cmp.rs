//! id: unseen
//! function: apply_temperature
//! says: 0.0 beats -0.0 at temperature 0
    if temperature == 0.0 {
        let best = (0..logits.len()).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap();
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
