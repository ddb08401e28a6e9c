//! function: inverse_frequencies
//! how: e^(−2i/D · ln base), all in f32
    assert!(head_dim % 2 == 0, "the head size {head_dim} is odd");
    (0..head_dim / 2).map(|i| (-(2.0 * i as f32) / head_dim as f32 * base.ln()).exp()).collect()
