//! id: draw-off-by-one
//! function: draw
//! says: The token whose own share crosses, not the next.
let q = probabilities(logits);
    let mut sum = 0.0;
    let n = q.len();
    for (t, q) in q.into_iter().enumerate() { sum += f64::from(q); if sum > uniform { return ((t + 1) % n) as u32; } }
    n as u32 - 1
