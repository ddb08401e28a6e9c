//! id: topp-ascending
//! function: top_p
//! says: From the most probable down.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    let mut o = descending(logits); o.reverse();
    for &t in &o { if sum >= p { logits[t] = f32::NEG_INFINITY; } sum += q[t]; }
