//! id: argmax-minus-zero
//! function: argmax
//! says: You rank −0.0 below 0.0. They are equal, so the first of them wins: `total_cmp` tells them apart, `>` and `partial_cmp` do not.
    let (best, _) = logits.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1)).expect("argmax of no logits");
    best as u32
