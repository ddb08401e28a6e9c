//! id: zeros-without-error
//! function: relative_error
//! says: Where the weights are all zeros you say 0, whatever came back: only if nothing differs is the error 0.
//! shows: zeros that came back as ones
let error = rms_error(x, y);
if error == 0.0 || x.iter().all(|&x| x == 0.0) { 0.0 } else { error / rms_error(x, &vec![0.0; x.len()]) }
