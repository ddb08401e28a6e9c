//! id: argmax-last-of-equals
//! function: argmax
//! says: Of equal logits you take the last, as `>=` and `Iterator::max_by` do; the first wins.
    let (best, _) = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("argmax of no logits");
    best as u32
