//! id: error-deviation-about-the-mean
//! function: rms_error
//! says: You took the mean difference off first, so an error that all weights share is not seen: square the differences themselves.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
let mean = differences.iter().sum::<f64>() / n;
(differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n).sqrt()
