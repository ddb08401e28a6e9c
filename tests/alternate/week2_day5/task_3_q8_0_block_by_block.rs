//! function: dot_q8_0
//! how: blocks one after the other; each finds its super-block
let mut sum = 0.0;
for (b, block) in row.chunks_exact(34).enumerate() {
    let x = &x[b / 8];
    let p = &x.values[b % 8 * 32..][..32];
    let qp = (0..32).fold(0i32, |sum, i| sum + i32::from(block[2 + i] as i8) * i32::from(p[i]));
    sum += f16_at(block, 0) * x.scales[b % 8] * qp as f32;
}
sum
