//! id: temperature-power-of-logits
//! function: apply_temperature
//! says: Nothing but a division.
if temperature == 0.0 { let best = argmax(logits) as usize; for (i, l) in logits.iter_mut().enumerate() { if i != best { *l = f32::NEG_INFINITY; } } return; }
    let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for l in logits { *l = *l / temperature - max; }
