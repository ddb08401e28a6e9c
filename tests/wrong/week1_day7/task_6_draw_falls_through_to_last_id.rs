//! id: draw-falls-through-to-last-id
//! function: draw
//! says: The last possible token covers what rounding leaves, not the last id.
let q = probabilities(logits);
    let mut sum = 0.0;
    let n = q.len();
    for (t, q) in q.into_iter().enumerate() { sum += f64::from(q); if sum > uniform { return t as u32; } }
    n as u32 - 1
