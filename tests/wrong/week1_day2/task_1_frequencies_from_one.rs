//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your list begins with i = 1: the first pair has i = 0 and turns by 1 radian per position.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (1..=head_dim / 2).map(|i| f64::from(base).powf(-2.0 * i as f64 / head_dim as f64) as f32).collect()
