//! id: sums-of-one-half
//! function: dot_q5_0
//! says: Your Σx has the first 16 activations only: the codes of weights 16 to 31 are 16 too large.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(22).zip(x.chunks_exact(32)) {
    let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    for (j, byte) in block[6..].iter().enumerate() {
        let low = u32::from(byte & 15) | (fifth >> j & 1) << 4;
        let high = u32::from(byte >> 4) | (fifth >> (j + 16) & 1) << 4;
        qx += low as f32 * x[j] + high as f32 * x[j + 16];
        x_sum += x[j];
    }
    sum += f16_at(block, 0) * (qx - 16.0 * x_sum);
}
sum
