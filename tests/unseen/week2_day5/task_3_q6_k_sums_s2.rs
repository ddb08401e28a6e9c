//! id: unseen
//! function: dot_q6_k
//! says: sums[s / 2]
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(210).zip(x) {
        let mut scaled = 0;
        for (s, p) in x.values.chunks_exact(16).enumerate() {
            let (half, quarter, first) = (s / 8, s % 8 / 2, s % 2 * 16);
            let low = &block[half * 64 + quarter % 2 * 32 + first..][..16];
            let upper = &block[128 + half * 32 + first..][..16];
            let mut qp = -32 * i32::from(x.sums[s / 2]);
            for ((low, upper), &p) in low.iter().zip(upper).zip(p) {
                let q = low >> (quarter / 2 * 4) & 15 | (upper >> (quarter * 2) & 3) << 4;
                qp += i32::from(q) * i32::from(p);
            }
            scaled += i32::from(block[192 + s] as i8) * qp;
        }
        sum += x.scales[0] * f16_at(block, 208) * scaled as f32;
    }
    sum
