//! id: topp-cumsum-of-logs
//! function: top_p
//! says: Sum probabilities, not their logarithms.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for &t in &descending(logits) { if sum >= p { logits[t] = f32::NEG_INFINITY; } sum += q[t].ln(); }
