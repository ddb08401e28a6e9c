//! id: error-relative-squared
//! function: relative_error
//! says: This is the ratio of the mean squares, the square of what is asked for: take the root of both.
let error = rms_error(x, y);
if error == 0.0 { 0.0 } else { (error / rms_error(x, &vec![0.0; x.len()])).powi(2) }
