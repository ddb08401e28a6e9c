//! function: rms_error
//! how: a mean that is kept up to date
let mut mean = 0.0;
for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
    let square = (f64::from(x) - f64::from(y)).powi(2);
    mean += (square - mean) / (i + 1) as f64;
}
mean.sqrt()
