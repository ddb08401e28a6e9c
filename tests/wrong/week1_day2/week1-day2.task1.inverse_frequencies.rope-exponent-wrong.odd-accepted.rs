//! rope-exponent-wrong: An odd head has no pairs: refuse it.
//! wrong body for week1-day2 task 1: rope.rs, inverse_frequencies
(0..head_dim / 2).map(|i| base.powf(-2.0 * i as f32 / head_dim as f32)).collect()
