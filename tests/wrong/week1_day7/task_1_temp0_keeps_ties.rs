//! id: temp0-keeps-ties
//! function: apply_temperature
//! says: Of equal logits only the first stays.
if temperature == 0.0 { let max = logits.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v)); for l in logits.iter_mut() { if *l < max { *l = f32::NEG_INFINITY; } } return; }
    for l in logits { *l /= temperature; }
