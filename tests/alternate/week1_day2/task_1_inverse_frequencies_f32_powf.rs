//! function: inverse_frequencies
//! how: see the name
assert!(head_dim % 2 == 0);
    (0..head_dim / 2).map(|i| 1.0 / base.powf(2.0 * i as f32 / head_dim as f32)).collect()
