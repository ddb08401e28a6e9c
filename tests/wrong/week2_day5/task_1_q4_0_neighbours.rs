//! id: q4-nibble-order
//! function: dot_q4_0
//! says: You take the two halves of a byte for neighbours: they are weights j and j + 16.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
    let (low, high) = x.split_at(16);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    let _ = (low, high);
    for (j, byte) in block[2..].iter().enumerate() {
        let (low, high) = (x[2 * j], x[2 * j + 1]);
        qx += f32::from(byte & 15) * low + f32::from(byte >> 4) * high;
        x_sum += low + high;
    }
    sum += f16_at(block, 0) * (qx - 8.0 * x_sum);
}
sum
