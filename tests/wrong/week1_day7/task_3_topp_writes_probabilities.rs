//! id: topp-writes-probabilities
//! function: top_p
//! says: Logits stay logits.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for (r, &t) in descending(&logits.to_vec()).iter().enumerate() { logits[t] = if r > 0 && sum >= p { f32::NEG_INFINITY } else { q[t] }; sum += q[t]; }
