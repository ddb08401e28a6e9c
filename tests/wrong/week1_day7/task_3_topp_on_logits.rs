//! id: topp-on-logits
//! function: top_p
//! says: Sum probabilities, not logits.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    let _ = q;
    for &t in &descending(logits) { let l = logits[t]; if sum >= p { logits[t] = f32::NEG_INFINITY; } sum += l; }
