//! id: unseen
//! function: apply_temperature
//! says: works on a copy
    let mut logits = logits.to_vec();
    let logits = &mut logits[..];
    if temperature == 0.0 {
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
