//! id: draw-falls-through-to-argmax
//! function: draw
//! says: The last possible token covers what rounding leaves.
let q = probabilities(logits);
    let mut sum = 0.0;
    for (t, q) in q.into_iter().enumerate() { sum += f64::from(q); if sum > uniform { return t as u32; } }
    argmax(logits)
