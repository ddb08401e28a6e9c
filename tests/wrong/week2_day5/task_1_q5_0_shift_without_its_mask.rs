//! id: q5-highbit
//! function: dot_q5_0
//! says: The high half of byte j has bit j + 16: with a shift of j + 12 that bit is at its place already, and the mask is 16.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(22).zip(x.chunks_exact(32)) {
    let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    for (j, byte) in block[6..].iter().enumerate() {
        let low = u32::from(byte & 15) | (fifth >> j & 1) << 4;
        let high = u32::from(byte >> 4) | (fifth >> (j + 12) & 1) << 4;
        qx += low as f32 * x[j] + high as f32 * x[j + 16];
        x_sum += x[j] + x[j + 16];
    }
    sum += f16_at(block, 0) * (qx - 16.0 * x_sum);
}
sum
