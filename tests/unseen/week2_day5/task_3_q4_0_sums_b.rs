//! id: unseen
//! function: dot_q4_0
//! says: sums[b], one sum of 16 for a block of 32
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 18).zip(x) {
        for (b, block) in blocks.chunks_exact(18).enumerate() {
            let (low, high) = x.values[b * 32..][..32].split_at(16);
            let mut qp = -8 * i32::from(x.sums[b]);
            for ((byte, &low), &high) in block[2..].iter().zip(low).zip(high) {
                qp +=
                    i32::from(byte & 15) * i32::from(low) + i32::from(byte >> 4) * i32::from(high);
            }
            sum += x.scales[b] * f16_at(block, 0) * qp as f32;
        }
    }
    sum
