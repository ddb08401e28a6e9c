//! id: argmax-stale-maximum
//! function: argmax
//! says: You take the last logit that is larger than the first one: when a larger one is found, it is the new maximum to compare with.
    let (mut best, max) = (0, logits[0]);
    for (i, &logit) in logits.iter().enumerate() {
        if logit > max {
            best = i;
        }
    }
    best as u32
