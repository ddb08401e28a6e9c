//! id: rope-exponent-wrong
//! function: inverse_frequencies
//! says: An odd head has no pairs: refuse it.
(0..head_dim / 2).map(|i| base.powf(-2.0 * i as f32 / head_dim as f32)).collect()
