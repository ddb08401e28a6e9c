//! function: inverse_frequencies
//! how: each frequency is the one before times base^(−2/D)
    assert!(head_dim % 2 == 0, "the head size {head_dim} is odd");
    let step = base.powf(-2.0 / head_dim as f32);
    std::iter::successors(Some(1.0), |theta| Some(theta * step)).take(head_dim / 2).collect()
