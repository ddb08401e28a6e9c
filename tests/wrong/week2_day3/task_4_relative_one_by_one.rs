//! id: error-relative-one-by-one
//! function: relative_error
//! says: You divided each difference by its own weight, so the smallest weights decide: divide once, by the root of the mean square.
let sum: f64 = x.iter().zip(y).map(|(&x, &y)| ((f64::from(x) - f64::from(y)) / f64::from(x)).powi(2)).filter(|r| r.is_finite()).sum();
(sum / x.len() as f64).sqrt()
