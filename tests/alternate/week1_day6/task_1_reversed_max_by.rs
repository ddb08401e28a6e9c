//! function: argmax
//! how: `max_by` from the back, for it keeps the last of equals
    let (best, _) = logits.iter().enumerate().rev().max_by(|a, b| a.1.partial_cmp(b.1).expect("no NaN")).expect("no logits");
    best as u32
