//! id: topp-one-more
//! function: top_p
//! says: Stop at the token that crosses, not one after it.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    let mut before = 0.0;
    for &t in &descending(logits) { if before >= p { logits[t] = f32::NEG_INFINITY; } before = sum; sum += q[t]; }
