//! function: min_p
//! how: the border as a logit: max + ln p
    let border = logits[argmax(logits) as usize] + p.ln();
    logits.iter_mut().filter(|logit| **logit < border).for_each(|logit| *logit = f32::NEG_INFINITY);
