//! id: draw-falls-through
//! function: draw
//! says: Where rounding leaves the sum just below the number you give token 0; the last token that can be drawn covers the rest.
    let probabilities = probabilities(logits);
    let mut sum = 0.0;
    for (token, probability) in probabilities.iter().enumerate() {
        sum += f64::from(*probability);
        if sum > uniform {
            return token as u32;
        }
    }
    0
