//! function: inverse_frequencies
//! how: see the name
assert!(head_dim % 2 == 0);
    let step = base.powf(-2.0 / head_dim as f32); let mut t = 1.0; (0..head_dim / 2).map(|_| { let r = t; t *= step; r }).collect()
