//! id: q4-nibble-order
//! function: dequantize
//! says: Each 32 weights took 16 bytes of their own, low halves first, as in Q4_0: here 64 weights share 32 bytes.
let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
for (j, out) in out.chunks_exact_mut(32).enumerate() {
    let scale = d * f32::from(scales[j]);
    let minimum = dmin * f32::from(minimums[j]);
    let bytes = &block[16 + j * 16..][..16];
    for (i, x) in out.iter_mut().enumerate() {
        *x = scale * f32::from(bytes[i % 16] >> (i / 16 * 4) & 15) - minimum;
    }
}
