//! id: draw-unnormalised
//! function: draw
//! says: Divide by the sum of all.
let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    let mut sum = 0.0;
    for (t, l) in logits.iter().enumerate() { sum += f64::from((l - max).exp()); if sum > uniform { return t as u32; } }
    logits.len() as u32 - 1
