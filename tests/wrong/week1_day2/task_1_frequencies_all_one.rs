//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your frequencies are all 1, as if every exponent were 0: a division of whole numbers rounds i/D down to 0.
//! shows: are all 1, as if every exponent were 0
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).map(|i| f64::from(base).powf(-2.0 * (i / head_dim) as f64) as f32).collect()
