//! id: draw-zero-gives-masked
//! function: draw
//! says: A token that is ruled out is never drawn.
let q = probabilities(logits);
    let mut sum = 0.0;
    for (t, q) in q.iter().enumerate() { sum += f64::from(*q); if sum >= uniform { return t as u32; } }
    q.len() as u32 - 1
