//! id: draw-without-softmax
//! function: draw
//! says: Probabilities, not logits.
let mut sum = 0.0;
    for (t, l) in logits.iter().enumerate() { sum += f64::from(*l); if sum > uniform { return t as u32; } }
    logits.len() as u32 - 1
