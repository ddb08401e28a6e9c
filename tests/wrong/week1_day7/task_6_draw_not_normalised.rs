//! id: draw-not-normalised
//! function: draw
//! says: Your sum goes on beyond 1, so late tokens never come up: divide the exponentials by their sum.
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    let mut sum = 0.0;
    let mut last = argmax(logits);
    for (token, logit) in logits.iter().enumerate() {
        let weight = (logit - max).exp();
        if weight > 0.0 {
            last = token as u32;
            sum += f64::from(weight);
            if sum > uniform {
                return last;
            }
        }
    }
    last
