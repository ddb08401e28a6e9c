//! id: error-summed-in-f32
//! function: rms_error
//! says: The sum ran in f32, which loses what is small beside it.
//! shows: a sum in f32 loses what is small beside it, so sum in f64
let sum: f32 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
(f64::from(sum) / x.len() as f64).sqrt()
