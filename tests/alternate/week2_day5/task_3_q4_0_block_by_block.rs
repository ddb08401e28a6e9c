//! function: dot_q4_0
//! how: blocks one after the other; each finds its super-block, and 8 is taken off each code
let mut sum = 0.0;
for (b, block) in row.chunks_exact(18).enumerate() {
    let x = &x[b / 8];
    let p = &x.values[b % 8 * 32..][..32];
    let code = |i: usize| i32::from(block[2 + i % 16] >> (i / 16 * 4) & 15) - 8;
    let qp = (0..32).fold(0i32, |sum, i| sum + code(i) * i32::from(p[i]));
    sum += f16_at(block, 0) * x.scales[b % 8] * qp as f32;
}
sum
