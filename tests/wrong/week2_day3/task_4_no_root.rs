//! id: error-no-root
//! function: rms_error
//! says: This is the mean square; its root is missing, which brings it back to the unit of the weights.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
differences.iter().map(|d| d * d).sum::<f64>() / n
