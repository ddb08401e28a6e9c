//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: You return D frequencies: there is one for each pair, so i ends at D/2.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim).map(|i| f64::from(base).powf(-2.0 * i as f64 / head_dim as f64) as f32).collect()
