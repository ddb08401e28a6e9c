//! id: topp-greater-not-equal
//! function: top_p
//! says: At exactly p it is enough.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for (r, &t) in descending(logits).iter().enumerate() { if r > 0 && sum > p { logits[t] = f32::NEG_INFINITY; } sum += q[t]; }
