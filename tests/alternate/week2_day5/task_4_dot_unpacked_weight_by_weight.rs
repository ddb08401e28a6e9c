//! function: dot_unpacked
//! how: floats throughout, in f64
let mut sum = 0.0f64;
for (w, x) in row.iter().zip(x) {
    for i in 0..w.codes.len() {
        let weight = f64::from(w.scales[i / SUM]) * f64::from(w.codes[i]) - f64::from(w.mins[i / SUM]);
        sum += weight * f64::from(x.scales[i / 32]) * f64::from(x.values[i]);
    }
}
sum as f32
