//! id: argmax-max-by
//! function: argmax
//! says: Iterator::max_by returns the last of equal elements.
logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as u32
