//! id: draw-descending-order
//! function: draw
//! says: In id order.
let q = probabilities(logits);
    let mut sum = 0.0;
    for t in descending(logits) { sum += f64::from(q[t]); if sum > uniform { return t as u32; } }
    argmax(logits)
