//! id: argmax-from-min-positive
//! function: argmax
//! says: f32::MIN_POSITIVE is a tiny positive number.
let (mut best, mut max) = (0, f32::MIN_POSITIVE);
    for (i, &l) in logits.iter().enumerate() { if l > max { best = i; max = l; } }
    best as u32
