//! function: dot_q8_0
//! how: each weight whole, scale and all, by index, in f64
let mut sum = 0.0f64;
for i in 0..x.len() {
    let block = &row[i / 32 * 34..][..34];
    sum += f64::from(f16_at(block, 0)) * f64::from(block[2 + i % 32] as i8) * f64::from(x[i]);
}
sum as f32
