//! id: unseen
//! function: dequantize
//! says: neighbouring nibbles
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let d = f16_at(rest, 16);
    for (i, x) in out.iter_mut().enumerate() {
        let (half, i_in_half) = (i / 128, i % 128);
        let four = low[i / 2] >> (i % 2 * 4) & 15;
        let two = high[half * 32 + i_in_half % 32] >> (i_in_half / 32 * 2) & 3;
        let scale = d * f32::from(rest[i / 16] as i8);
        *x = scale * (f32::from(four | two << 4) - 32.0);
    }
