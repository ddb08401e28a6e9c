//! id: topp-unsorted-cumsum
//! function: top_p
//! says: Sort before you sum.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for t in 0..q.len() { if sum >= p { logits[t] = f32::NEG_INFINITY; } sum += q[t]; }
