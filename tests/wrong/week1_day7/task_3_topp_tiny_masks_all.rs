//! id: topp-tiny-masks-all
//! function: top_p
//! says: The most probable token always stays.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for &t in &descending(logits) { sum += q[t]; if sum > p { logits[t] = f32::NEG_INFINITY; } }
