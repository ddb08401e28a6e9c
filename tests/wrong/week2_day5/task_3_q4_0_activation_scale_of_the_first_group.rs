//! id: scale-of-another-group
//! function: dot_q4_0
//! says: Each group of activations has a scale of its own; you use the first one for all.
let mut sum = 0.0;
let first = x[0].scales;
for (blocks, x) in row.chunks(8 * 18).zip(x) {
    let mut scaled = 0.0;
    for (b, block) in blocks.chunks_exact(18).enumerate() {
        let (low, high) = x.values[b * 32..][..32].split_at(16);
        let mut qp = -8 * sum_of_32(x, b);
        for ((byte, &low), &high) in block[2..].iter().zip(low).zip(high) {
            qp += i32::from(byte & 15) * i32::from(low) + i32::from(byte >> 4) * i32::from(high);
        }
        scaled += first[b] * f16_at(block, 0) * qp as f32;
    }
    sum += scaled;
}
sum
