//! id: q4-nibble-order
//! function: dot_q4_0
//! says: You have the halves of a byte exchanged: the low half is weight j, the high half weight j + 16.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
    let (low, high) = x.split_at(16);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    for ((byte, low), high) in block[2..].iter().zip(low).zip(high) {
        qx += f32::from(byte >> 4) * low + f32::from(byte & 15) * high;
        x_sum += low + high;
    }
    sum += f16_at(block, 0) * (qx - 8.0 * x_sum);
}
sum
