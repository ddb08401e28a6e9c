//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: Your exponent is −4i/D: with i in 0..D/2 it must be −2i/D, or −j/D with the even j.
    assert!(head_dim.is_multiple_of(2), "RoPE turns pairs, so the head size must be even; it is {head_dim}");
    (0..head_dim / 2).map(|i| f64::from(base).powf(-4.0 * i as f64 / head_dim as f64) as f32).collect()
