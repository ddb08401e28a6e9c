//! id: unseen
//! function: dot_q6_k
//! says: neighbouring nibbles
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(210).zip(x.chunks_exact(256)) {
        let mut scaled = 0.0;
        for (s, x) in x.chunks_exact(16).enumerate() {
            // Which half of the block, which quarter of that, and where in the quarter's 32 bytes.
            let (half, quarter, first) = (s / 8, s % 8 / 2, s % 2 * 16);
            let low: Vec<u8> = (0..16).map(|k| block[(s * 16 + k) / 2] >> ((s * 16 + k) % 2 * 4) & 15).collect();
            let upper = &block[128 + half * 32 + first..][..16];
            let mut qx = 0.0;
            for ((low, upper), x) in low.iter().zip(upper).zip(x) {
                let q = low | (upper >> (quarter * 2) & 3) << 4;
                qx += (f32::from(q) - 32.0) * x;
            }
            scaled += f32::from(block[192 + s] as i8) * qx;
        }
        sum += f16_at(block, 208) * scaled;
    }
    sum
