//! id: minp-of-mean
//! function: min_p
//! says: Relative to the largest, not to the mean.
let q = probabilities(logits); let m = p / q.len() as f32;
    for (l, q) in logits.iter_mut().zip(q) { if q < m { *l = f32::NEG_INFINITY; } }
