//! function: dot_q5_0
//! how: 16 taken off each code, so no sums of activations
let mut sum = 0.0;
for (b, block) in row.chunks_exact(22).enumerate() {
    let x = &x[b / 8];
    let mut qp = 0;
    for i in 0..32 {
        let code = block[6 + i % 16] >> (i / 16 * 4) & 15 | (block[2 + i / 8] >> (i % 8) & 1) << 4;
        qp += (i32::from(code) - 16) * i32::from(x.values[b % 8 * 32 + i]);
    }
    sum += f16_at(block, 0) * x.scales[b % 8] * qp as f32;
}
sum
