//! id: rope-base-default
//! function: inverse_frequencies
//! says: Read rope_theta.
assert!(head_dim % 2 == 0);
    let _ = base; (0..head_dim / 2).map(|i| 10_000f32.powf(-2.0 * i as f32 / head_dim as f32)).collect()
