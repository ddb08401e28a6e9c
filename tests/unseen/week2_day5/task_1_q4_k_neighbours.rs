//! id: unseen
//! function: dot_q4_k
//! says: neighbouring nibbles
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(144).zip(x.chunks_exact(256)) {
        let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
        let (mut scaled, mut shift) = (0.0, 0.0);
        for (j, x) in x.chunks_exact(32).enumerate() {
            // 32 bytes hold two sub-blocks: the even one in the low halves, the odd one in the high
            // halves.
            let bytes = &block[16 + j / 2 * 32..][..32];
            let codes = (0..32).map(|i| f32::from(block[16 + (j * 32 + i) / 2] >> (i % 2 * 4) & 15));
            let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
            scaled += f32::from(scales[j]) * qx;
            shift += f32::from(mins[j]) * x.iter().sum::<f32>();
        }
        sum += f16_at(block, 0) * scaled - f16_at(block, 2) * shift;
    }
    sum
