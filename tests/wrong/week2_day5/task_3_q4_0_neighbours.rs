//! id: q4-nibble-order
//! function: dot_q4_0
//! says: You take the two halves of a byte for neighbours: they are weights j and j + 16.
let mut sum = 0.0;
for (blocks, x) in row.chunks(8 * 18).zip(x) {
    let mut scaled = 0.0;
    for (b, block) in blocks.chunks_exact(18).enumerate() {
        let p = &x.values[b * 32..][..32];
        let (low, high): (Vec<i8>, Vec<i8>) = p.chunks_exact(2).map(|two| (two[0], two[1])).unzip();
        let mut qp = -8 * sum_of_32(x, b);
        for ((byte, &low), &high) in block[2..].iter().zip(&low).zip(&high) {
            qp += i32::from(byte & 15) * i32::from(low) + i32::from(byte >> 4) * i32::from(high);
        }
        scaled += x.scales[b] * f16_at(block, 0) * qp as f32;
    }
    sum += scaled;
}
sum
