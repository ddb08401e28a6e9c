//! id: error-root-of-the-sum
//! function: rms_error
//! says: The sum was not divided by the number of weights before the root: a longer row would have a larger error.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
differences.iter().map(|d| d * d).sum::<f64>().sqrt()
