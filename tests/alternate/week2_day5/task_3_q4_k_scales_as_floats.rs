//! function: dot_q4_k
//! how: a float for each sub-block, its sums added up anew
let mut sum = 0.0;
for (block, x) in row.chunks_exact(144).zip(x) {
    let (scales, mins) = scales_and_minimums(block[4..16].try_into().unwrap());
    for j in 0..8 {
        let p = &x.values[32 * j..][..32];
        let (mut qp, mut p_sum) = (0i32, 0i32);
        for i in 0..32 {
            qp += i32::from(block[16 + j / 2 * 32 + i] >> (j % 2 * 4) & 15) * i32::from(p[i]);
            p_sum += i32::from(p[i]);
        }
        let (scale, min) = (f16_at(block, 0) * f32::from(scales[j]), f16_at(block, 2) * f32::from(mins[j]));
        sum += x.scales[0] * (scale * qp as f32 - min * p_sum as f32);
    }
}
sum
