//! id: error-mean-of-differences
//! function: rms_error
//! says: Errors of opposite sign cancelled: square each difference before you add it.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
(differences.iter().sum::<f64>() / n).abs()
