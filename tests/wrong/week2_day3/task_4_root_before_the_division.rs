//! id: error-root-before-the-division
//! function: rms_error
//! says: You divided after the root: the mean is taken first, and then its root.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
differences.iter().map(|d| d * d).sum::<f64>().sqrt() / n
