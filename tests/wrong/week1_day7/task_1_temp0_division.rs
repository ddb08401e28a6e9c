//! id: temp0-division
//! function: apply_temperature
//! says: 0 means argmax, not a division by 0.
for l in logits { *l /= temperature; }
