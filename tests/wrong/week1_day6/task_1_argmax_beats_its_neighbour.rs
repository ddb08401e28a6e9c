//! id: argmax-stale-maximum
//! function: argmax
//! says: You take the last logit that is larger than the one before it: compare with the largest so far, not with the neighbour.
    assert!(!logits.is_empty(), "argmax of no logits");
    let mut best = 0;
    for i in 1..logits.len() {
        if logits[i] > logits[i - 1] {
            best = i;
        }
    }
    best as u32
