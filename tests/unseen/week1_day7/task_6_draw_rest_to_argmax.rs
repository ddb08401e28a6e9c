//! id: unseen
//! function: draw
//! says: rounding falls back to the argmax
    let mut sum = 0.0;
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        sum += f64::from(probability);
        if sum > uniform { return token as u32; }
    }
    argmax(logits)
