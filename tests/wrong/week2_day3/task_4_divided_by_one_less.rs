//! id: error-divided-by-one-less
//! function: rms_error
//! says: You divide by n − 1: there are n differences, and no mean was estimated from them.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
(differences.iter().map(|d| d * d).sum::<f64>() / (n - 1.0)).sqrt()
