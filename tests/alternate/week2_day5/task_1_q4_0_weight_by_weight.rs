//! function: dot_q4_0
//! how: each weight whole, scale and all, by index, in f64
let mut sum = 0.0f64;
for i in 0..x.len() {
    let block = &row[i / 32 * 18..][..18];
    let code = block[2 + i % 16] >> (i % 32 / 16 * 4) & 15;
    sum += f64::from(f16_at(block, 0)) * (f64::from(code) - 8.0) * f64::from(x[i]);
}
sum as f32
