//! id: temp0-division
//! function: apply_temperature
//! says: At temperature 0 you divide by 0, which gives infinities and NaN; 0 stands for the greedy choice.
    for logit in logits {
        *logit /= temperature;
    }
