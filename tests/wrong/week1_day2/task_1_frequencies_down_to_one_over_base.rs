//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your last frequency is exactly 1/base: the exponent −2i/D does not reach −1, as i ends at D/2 − 1.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).map(|i| f64::from(base).powf(-(i as f64) / (head_dim as f64 / 2.0 - 1.0)) as f32).collect()
