//! id: zeros-not-counted
//! function: rms_error
//! says: You divide by the number of weights that are not zero; the mean is over all.
let sum: f64 = x.iter().zip(y).map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum();
(sum / x.iter().filter(|&&x| x != 0.0).count().max(1) as f64).sqrt()
