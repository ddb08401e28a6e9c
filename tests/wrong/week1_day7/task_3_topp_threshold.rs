//! id: topp-threshold
//! function: top_p
//! says: p bounds a sum, not each probability.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    let _ = &mut sum;
    for (l, q) in logits.iter_mut().zip(q) { if q < p { *l = f32::NEG_INFINITY; } }
