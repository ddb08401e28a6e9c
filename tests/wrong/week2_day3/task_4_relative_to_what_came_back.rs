//! id: error-relative-to-what-came-back
//! function: relative_error
//! says: You divided by the size of what came back: the original is what the error is measured by.
let error = rms_error(x, y);
if error == 0.0 { 0.0 } else { error / rms_error(y, &vec![0.0; y.len()]) }
