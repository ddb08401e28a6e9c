//! id: temp0-off
//! function: apply_temperature
//! says: 0 is greedy, not off.
if temperature == 0.0 { return; }
    for l in logits { *l /= temperature; }
