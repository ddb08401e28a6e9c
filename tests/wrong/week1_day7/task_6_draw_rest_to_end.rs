//! id: draw-falls-through
//! function: draw
//! says: Where rounding leaves the sum just below the number you give the last id, though it is ruled out; the last token that can be drawn covers the rest.
    let probabilities = probabilities(logits);
    let mut sum = 0.0;
    for (token, probability) in probabilities.iter().enumerate() {
        sum += f64::from(*probability);
        if sum > uniform {
            return token as u32;
        }
    }
    logits.len() as u32 - 1
