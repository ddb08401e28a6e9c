//! id: error-relative-to-the-mean-magnitude
//! function: relative_error
//! says: You divided by the mean magnitude: divide by the root of the mean square, of the same kind as the error.
let error = rms_error(x, y);
let mean = x.iter().map(|&x| f64::from(x.abs())).sum::<f64>() / x.len() as f64;
if error == 0.0 { 0.0 } else { error / mean }
