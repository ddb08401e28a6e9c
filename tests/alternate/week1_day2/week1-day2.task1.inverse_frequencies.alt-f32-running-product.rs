//! alt-f32-running-product: 
//! correct body of another shape for week1-day2 task 1: rope.rs, inverse_frequencies
assert!(head_dim % 2 == 0);
    let step = base.powf(-2.0 / head_dim as f32); let mut t = 1.0; (0..head_dim / 2).map(|_| { let r = t; t *= step; r }).collect()
