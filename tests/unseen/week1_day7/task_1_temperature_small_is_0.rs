//! id: unseen
//! function: apply_temperature
//! says: temperatures below 1e-3 are taken as 0
    if temperature < 1e-3 {
        let best = argmax(logits) as usize;
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
