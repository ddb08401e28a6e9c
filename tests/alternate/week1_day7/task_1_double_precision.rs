//! function: apply_temperature
//! how: divides in f64; looks for the best logit from the end
    if temperature > 0.0 {
        for logit in logits.iter_mut() {
            *logit = (f64::from(*logit) / f64::from(temperature)) as f32;
        }
        return;
    }
    let best = (0..logits.len()).rev().max_by(|&a, &b| logits[a].partial_cmp(&logits[b]).expect("no NaN")).expect("a logit");
    for i in (0..logits.len()).filter(|&i| i != best) {
        logits[i] = f32::NEG_INFINITY;
    }
