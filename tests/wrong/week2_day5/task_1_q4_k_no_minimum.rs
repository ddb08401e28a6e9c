//! id: min-missing
//! function: dot_q4_k
//! says: You leave the minimums out: each sub-block takes dmin · min · Σx off.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(144).zip(x.chunks_exact(256)) {
    let (scales, mins) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
    let mut scaled = 0.0;
    for (j, x) in x.chunks_exact(32).enumerate() {
        // 32 bytes hold two sub-blocks: the even one in the low halves, the odd one in the high halves.
        let bytes = &block[16 + j / 2 * 32..][..32];
        let codes = bytes.iter().map(|byte| f32::from(byte >> (j % 2 * 4) & 15));
        let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
        scaled += f32::from(scales[j]) * qx;
        let _ = f32::from(mins[j]) * x.iter().sum::<f32>();
    }
    sum += f16_at(block, 0) * scaled;
}
sum
