//! id: minp-absolute
//! function: min_p
//! says: Relative to the most probable token.
let q = probabilities(logits);
    for (l, q) in logits.iter_mut().zip(q) { if q < p { *l = f32::NEG_INFINITY; } }
