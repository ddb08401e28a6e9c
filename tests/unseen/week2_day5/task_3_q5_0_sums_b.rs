//! id: unseen
//! function: dot_q5_0
//! says: sums[b]
    let mut sum = 0.0;
    for (blocks, x) in row.chunks(8 * 22).zip(x) {
        for (b, block) in blocks.chunks_exact(22).enumerate() {
            let p = &x.values[b * 32..][..32];
            let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
            let mut qp = -16 * i32::from(x.sums[b]);
            for (j, byte) in block[6..].iter().enumerate() {
                let low = u32::from(byte & 15) | (fifth >> j & 1) << 4;
                let high = u32::from(byte >> 4) | (fifth >> (j + 16) & 1) << 4;
                qp += low as i32 * i32::from(p[j]) + high as i32 * i32::from(p[j + 16]);
            }
            sum += x.scales[b] * f16_at(block, 0) * qp as f32;
        }
    }
    sum
