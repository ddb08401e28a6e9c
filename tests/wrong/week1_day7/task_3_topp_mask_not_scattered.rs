//! id: topp-mask-not-scattered
//! function: top_p
//! says: Apply the mask to tokens, not to ranks.
if p >= 1.0 { return; }
    let q = probabilities(logits);
    let mut sum = 0.0;
    for (r, &t) in descending(&logits.to_vec()).iter().enumerate() { if sum >= p { logits[r] = f32::NEG_INFINITY; } sum += q[t]; }
