//! id: draw-probability-exceeds
//! function: draw
//! says: The running sum must exceed it, not the single probability.
let q = probabilities(logits);
    for (t, q) in q.into_iter().enumerate() { if f64::from(q) > uniform { return t as u32; } }
    argmax(logits)
