//! id: rope-base-default
//! function: inverse_frequencies
//! says: Your base is always 10000: take the one that is given. Models for long texts have a larger one.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).map(|i| 10_000_f64.powf(-2.0 * i as f64 / head_dim as f64) as f32).collect()
