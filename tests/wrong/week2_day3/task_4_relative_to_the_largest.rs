//! id: error-relative-to-the-largest
//! function: relative_error
//! says: You divided by the largest weight: one outlier would make any error look small; divide by the root of the mean square.
let error = rms_error(x, y);
let largest = x.iter().fold(0f32, |m, x| m.max(x.abs()));
if error == 0.0 { 0.0 } else { error / f64::from(largest) }
