//! id: q4-nibble-order
//! function: dequantize
//! says: A byte does not hold two neighbours: in 64 weights the first 32 are the low halves of 32 bytes, the last 32 their high halves.
let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
for (j, out) in out.chunks_exact_mut(32).enumerate() {
    let half = &block[16 + j * 16..][..16];
    let scale = d * f32::from(scales[j]);
    let minimum = dmin * f32::from(minimums[j]);
        for (i, x) in out.iter_mut().enumerate() {
        *x = scale * f32::from(half[i / 2] >> (i % 2 * 4) & 15) - minimum;
    }
}
