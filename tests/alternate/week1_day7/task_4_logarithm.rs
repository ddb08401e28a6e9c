//! function: min_p
//! how: the border as a logit: max + ln p, in f64, where it has room
    let border = f64::from(logits[argmax(logits) as usize]) + f64::from(p).ln();
    let below = |logit: &&mut f32| f64::from(**logit) < border;
    logits.iter_mut().filter(below).for_each(|logit| *logit = f32::NEG_INFINITY);
