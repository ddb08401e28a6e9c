//! id: unseen
//! function: draw
//! says: rounding falls back to the first possible token
    let mut sum = 0.0;
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        sum += f64::from(probability);
        if sum > uniform { return token as u32; }
    }
    logits.iter().position(|&x| x > f32::NEG_INFINITY).unwrap_or(0) as u32
