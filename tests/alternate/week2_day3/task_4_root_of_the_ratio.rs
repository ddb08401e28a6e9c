//! function: relative_error
//! how: one root of the ratio of two sums
assert!(!x.is_empty() && x.len() == y.len(), "{} weights and {}", x.len(), y.len());
let (mut error, mut size) = (0.0f64, 0.0f64);
for i in 0..x.len() {
    error += (f64::from(x[i]) - f64::from(y[i])).powi(2);
    size += f64::from(x[i]).powi(2);
}
if error > 0.0 { (error / size).sqrt() } else { 0.0 }
