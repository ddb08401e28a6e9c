//! id: argmax-last-of-equals
//! function: argmax
//! says: Of equal logits you take the last, as `>=` and `Iterator::max_by` do; the first wins.
    let mut best = 0;
    for (i, &logit) in logits.iter().enumerate() {
        if logit >= logits[best] {
            best = i;
        }
    }
    best as u32
