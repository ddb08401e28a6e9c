//! id: argmax-from-zero
//! function: argmax
//! says: The running maximum starts at the first logit, not at 0: all may be negative.
let (mut best, mut max) = (0, 0.0);
    for (i, &l) in logits.iter().enumerate() { if l > max { best = i; max = l; } }
    best as u32
