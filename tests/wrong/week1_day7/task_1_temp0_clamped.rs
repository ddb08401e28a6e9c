//! id: temp0-clamped
//! function: apply_temperature
//! says: 0 means argmax, not a very small temperature.
let t = temperature.max(1e-6);
    for l in logits { *l /= t; }
