//! id: rope-odd-head
//! function: inverse_frequencies
//! says: An odd head size is accepted: one number of the head would have no partner, so refuse it.
//! shows: head size 7 is odd, so one number has no partner: this must panic
    (0..head_dim / 2).map(|i| f64::from(base).powf(-2.0 * i as f64 / head_dim as f64) as f32).collect()
