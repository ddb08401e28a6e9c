//! function: dequantize
//! how: an index for each weight
let (scales, minimums) = scales_and_minimums(&block[4..16].try_into().unwrap());
for i in 0..256 {
    let byte = block[16 + 32 * (i / 64) + i % 32];
    let q = if i % 64 < 32 { byte % 16 } else { byte / 16 };
    out[i] = f16_at(block, 0) * f32::from(scales[i / 32]) * f32::from(q) - f16_at(block, 2) * f32::from(minimums[i / 32]);
}
