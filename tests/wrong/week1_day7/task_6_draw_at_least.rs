//! id: draw-at-least
//! function: draw
//! says: The sum must exceed the number: at exactly ¼ the second of four is due.
let q = probabilities(logits);
    let mut sum = 0.0;
    let mut last = 0;
    for (t, q) in q.into_iter().enumerate() { if q > 0.0 { last = t; sum += f64::from(q); if sum >= uniform { return t as u32; } } }
    last as u32
