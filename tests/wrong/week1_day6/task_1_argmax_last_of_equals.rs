//! id: argmax-last-of-equals
//! function: argmax
//! says: Of equal logits the first wins: compare with >, not >=.
let mut best = 0;
    for (i, &l) in logits.iter().enumerate() { if l >= logits[best] { best = i; } }
    best as u32
