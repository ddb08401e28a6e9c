//! id: topp-one-not-off
//! function: top_p
//! says: p = 1 keeps all.
let q = probabilities(logits);
    let mut sum = 0.0;
    for (r, &t) in descending(logits).iter().enumerate() { if r > 0 && sum >= p { logits[t] = f32::NEG_INFINITY; } sum += q[t]; }
