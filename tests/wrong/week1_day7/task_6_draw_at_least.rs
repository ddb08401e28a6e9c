//! id: draw-at-least
//! function: draw
//! says: At exactly the border of two tokens you take the one before it: the sum must exceed the number, not just reach it.
    let mut sum = 0.0;
    let mut last = argmax(logits);
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        sum += f64::from(probability);
        if probability > 0.0 {
            last = token as u32;
        }
        if sum >= uniform {
            return token as u32;
        }
    }
    last
