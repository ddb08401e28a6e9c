//! id: min-by-d
//! function: dequantize
//! says: You multiplied the minimums by d and by dmin: dmin alone is their scale.
let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
for (j, out) in out.chunks_exact_mut(32).enumerate() {
    let scale = d * f32::from(scales[j]);
    let minimum = d * dmin * f32::from(minimums[j]);
    let bytes = &block[16 + j / 2 * 32..][..32];
    for (x, byte) in out.iter_mut().zip(bytes) {
        *x = scale * f32::from(byte >> (j % 2 * 4) & 15) - minimum;
    }
}
