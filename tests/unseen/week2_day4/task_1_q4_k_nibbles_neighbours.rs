//! id: unseen
//! function: dequantize
//! says: neighbouring nibbles
    let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
    let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let scale = d * f32::from(scales[j]);
        let minimum = dmin * f32::from(minimums[j]);
        let bytes = &block[16 + j * 16..][..16];
        for (i, x) in out.iter_mut().enumerate() {
            *x = scale * f32::from(bytes[i / 2] >> (i % 2 * 4) & 15) - minimum;
        }
    }
