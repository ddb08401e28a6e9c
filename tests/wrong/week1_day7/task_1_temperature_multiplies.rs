//! id: temperature-multiplies
//! function: apply_temperature
//! says: Divide: a temperature above 1 flattens.
if temperature == 0.0 { let best = argmax(logits) as usize; for (i, l) in logits.iter_mut().enumerate() { if i != best { *l = f32::NEG_INFINITY; } } return; }
    for l in logits { *l *= temperature; }
