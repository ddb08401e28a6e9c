//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your exponent is −i/D: the factor 2 is missing, so the slow pairs turn too fast.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).map(|i| f64::from(base).powf(-(i as f64) / head_dim as f64) as f32).collect()
