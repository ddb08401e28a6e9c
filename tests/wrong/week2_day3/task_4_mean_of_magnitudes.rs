//! id: error-mean-of-magnitudes
//! function: rms_error
//! says: You averaged the magnitudes: square the differences, average, then take the root, so that large errors count for more.
let differences: Vec<f64> = x.iter().zip(y).map(|(&x, &y)| f64::from(x) - f64::from(y)).collect();
let n = x.len() as f64;
differences.iter().map(|d| d.abs()).sum::<f64>() / n
