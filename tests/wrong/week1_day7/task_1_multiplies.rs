//! id: temperature-multiplies
//! function: apply_temperature
//! says: Your logits are multiplied by the temperature; divide by it: a temperature above 1 makes the distribution flatter.
    if temperature == 0.0 {
        let best = argmax(logits) as usize;
        for (i, logit) in logits.iter_mut().enumerate() {
            if i != best {
                *logit = f32::NEG_INFINITY;
            }
        }
    } else {
        for logit in logits {
            *logit *= temperature;
        }
    }
