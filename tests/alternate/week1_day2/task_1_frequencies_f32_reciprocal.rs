//! function: inverse_frequencies
//! how: 1 / base^(j/D) over the even j, in f32
    assert!(head_dim % 2 == 0, "the head size {head_dim} is odd");
    (0..head_dim).step_by(2).map(|j| 1.0 / base.powf(j as f32 / head_dim as f32)).collect()
