//! function: apply_temperature
//! how: fills the row with −∞ and puts the best logit back; multiplies by the reciprocal in f64
    if temperature == 0.0 {
        let best = argmax(logits) as usize;
        let logit = logits[best];
        logits.fill(f32::NEG_INFINITY);
        logits[best] = logit;
        return;
    }
    let factor = f64::from(temperature).recip();
    logits.iter_mut().for_each(|logit| *logit = (f64::from(*logit) * factor) as f32);
