//! id: temperature-on-probabilities
//! function: apply_temperature
//! says: It divides logits, before softmax.
if temperature == 0.0 { let best = argmax(logits) as usize; for (i, l) in logits.iter_mut().enumerate() { if i != best { *l = f32::NEG_INFINITY; } } return; }
    let q = probabilities(logits);
    for (l, q) in logits.iter_mut().zip(q) { *l = q / temperature; }
