//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: base^(−2i/D), i < D/2.
assert!(head_dim % 2 == 0);
    (0..head_dim / 2).map(|i| base.powf(-2.0 * (i as f32 + 1.0) / head_dim as f32)).collect()
