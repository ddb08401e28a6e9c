//! function: dot_q4_k
//! how: scale and minimum in each weight, 64 weights a turn
let mut sum = 0.0;
for (block, x) in row.chunks_exact(144).zip(x.chunks_exact(256)) {
    let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
    let (scales, mins) = scales_and_minimums(block[4..16].try_into().unwrap());
    for j in 0..4 {
        let weight = |s: usize, code: u8| d * f32::from(scales[s]) * f32::from(code) - dmin * f32::from(mins[s]);
        for i in 0..32 {
            let byte = block[16 + 32 * j + i];
            sum += weight(2 * j, byte & 15) * x[64 * j + i];
            sum += weight(2 * j + 1, byte >> 4) * x[64 * j + 32 + i];
        }
    }
}
sum
