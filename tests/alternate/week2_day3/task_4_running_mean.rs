//! function: rms_error
//! how: a mean that is kept up to date
let mut mean = 0.0;
for (i, (&x, &y)) in x.iter().zip(y).enumerate() {
    let square = f64::from(x - y) * f64::from(x - y);
    mean += (square - mean) / (i + 1) as f64;
}
mean.sqrt()
