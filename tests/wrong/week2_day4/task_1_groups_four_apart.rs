//! id: q4k-one-scale-per-64
//! function: dequantize
//! says: The low and high halves of 32 bytes are groups 2p and 2p + 1: you gave them the scales of p and p + 4.
let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
for (j, out) in out.chunks_exact_mut(32).enumerate() {
    let scale = d * f32::from(scales[j / 2 + j % 2 * 4]);
    let minimum = dmin * f32::from(minimums[j / 2 + j % 2 * 4]);
    let bytes = &block[16 + j / 2 * 32..][..32];
    for (x, byte) in out.iter_mut().zip(bytes) {
        *x = scale * f32::from(byte >> (j % 2 * 4) & 15) - minimum;
    }
}
