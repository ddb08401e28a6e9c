//! id: unseen
//! function: dot_q4_k
//! says: sums[j]
    let mut sum = 0.0;
    for (block, x) in row.chunks_exact(144).zip(x) {
        let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
        let (mut scaled, mut shift) = (0, 0);
        for (j, p) in x.values.chunks_exact(32).enumerate() {
            let bytes = &block[16 + j / 2 * 32..][..32];
            let codes = bytes.iter().map(|byte| i32::from(byte >> (j % 2 * 4) & 15));
            let qp: i32 = codes.zip(p).map(|(q, &p)| q * i32::from(p)).sum();
            scaled += i32::from(scales[j]) * qp;
            shift += i32::from(mins[j]) * i32::from(x.sums[j]);
        }
        sum += x.scales[0] * (f16_at(block, 0) * scaled as f32 - f16_at(block, 2) * shift as f32);
    }
    sum
