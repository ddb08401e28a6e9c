//! function: dot_q4_0
//! how: 8 taken off each code, so no sum of activations
let mut sum = 0.0;
for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
    let mut qx = 0.0;
    for i in 0..32 {
        let code = block[2 + i % 16] >> (i / 16 * 4) & 15;
        qx += (f32::from(code) - 8.0) * x[i];
    }
    sum += f16_at(block, 0) * qx;
}
sum
