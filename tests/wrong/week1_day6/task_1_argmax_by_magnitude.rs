//! id: argmax-by-magnitude
//! function: argmax
//! says: You take the logit that is furthest from 0; the largest is wanted, and −4 is smaller than 2.
    let mut best = 0;
    for (i, &logit) in logits.iter().enumerate() {
        if logit.abs() > logits[best].abs() {
            best = i;
        }
    }
    best as u32
