//! id: draw-f32-sum
//! function: draw
//! says: Over many tokens your running sum drifts away by more than one of them: rounded to f32 at each step, it errs too much. Sum in f64.
    let mut sum = 0.0f32;
    let mut last = argmax(logits);
    for (token, probability) in probabilities(logits).into_iter().enumerate() {
        if probability > 0.0 {
            last = token as u32;
            sum += probability;
            if f64::from(sum) > uniform {
                return last;
            }
        }
    }
    // Rounding may leave the sum just below 1: the last possible token covers the rest.
    last
