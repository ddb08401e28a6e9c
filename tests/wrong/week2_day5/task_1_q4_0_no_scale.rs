//! id: scale-forgotten
//! function: dot_q4_0
//! says: Your products have no scale: multiply each block's sum by its d.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(18).zip(x.chunks_exact(32)) {
    let (low, high) = x.split_at(16);
    let (mut qx, mut x_sum) = (0.0, 0.0);
    for ((byte, low), high) in block[2..].iter().zip(low).zip(high) {
        qx += f32::from(byte & 15) * low + f32::from(byte >> 4) * high;
        x_sum += low + high;
    }
    sum += (qx - 8.0 * x_sum);
}
sum
