//! function: draw
//! how: takes each probability off the number until it is negative
    let mut rest = uniform;
    let mut last = 0;
    for (token, probability) in probabilities(logits).into_iter().enumerate().filter(|(_, probability)| *probability > 0.0) {
        last = token as u32;
        rest -= f64::from(probability);
        if rest < 0.0 {
            break;
        }
    }
    last
