//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your frequencies stand in the reverse order: pair 0 is the fastest, with 1 radian per position, and each further one is slower.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).rev().map(|i| f64::from(base).powf(-2.0 * i as f64 / head_dim as f64) as f32).collect()
