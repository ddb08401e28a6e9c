//! id: temp0-off
//! function: apply_temperature
//! says: At temperature 0 you change nothing; 0 is the greedy choice, and 1 is what changes nothing.
    if temperature == 0.0 {
        return;
    }
    for logit in logits {
        *logit /= temperature;
    }
