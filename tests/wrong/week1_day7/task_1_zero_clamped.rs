//! id: temp0-division
//! function: apply_temperature
//! says: At temperature 0 all logits stay finite, a million times as large; only the largest may stay, unchanged, and the others become −∞.
    let temperature = temperature.max(1e-6);
    for logit in logits {
        *logit /= temperature;
    }
