//! id: topp-drops-crossing
//! function: top_p
//! says: Keep the token that crosses: test the mass before it.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for (r, &t) in descending(logits).iter().enumerate() { sum += q[t]; if r > 0 && sum > p { logits[t] = f32::NEG_INFINITY; } }
