//! function: expected_tokens
//! how: the closed form
    if rate == 1.0 {
        return k as f64 + 1.0;
    }
    (1.0 - rate.powi(k as i32 + 1)) / (1.0 - rate)
