//! id: sums-of-one-half
//! function: dot_q4_0
//! says: Your Σx has the first 16 activations only: the codes of weights 16 to 31 are 8 too large.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
    let (low, high) = x.split_at(16);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    for ((byte, low), high) in block[2..].iter().zip(low).zip(high) {
        qx += f32::from(byte & 15) * low + f32::from(byte >> 4) * high;
        x_sum += low;
    }
    sum += f16_at(block, 0) * (qx - 8.0 * x_sum);
}
sum
