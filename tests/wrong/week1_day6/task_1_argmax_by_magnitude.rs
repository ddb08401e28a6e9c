//! id: argmax-by-magnitude
//! function: argmax
//! says: The largest, not the one furthest from 0.
let mut best = 0;
    for (i, &l) in logits.iter().enumerate() { if l.abs() > logits[best].abs() { best = i; } }
    best as u32
