//! id: error-largest-difference
//! function: rms_error
//! says: This is the largest difference alone: the root of the mean square counts all of them.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
differences.iter().fold(0.0, |m: f64, d| m.max(d.abs()))
