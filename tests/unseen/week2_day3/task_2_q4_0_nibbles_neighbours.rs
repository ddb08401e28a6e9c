//! id: unseen
//! function: dequantize
//! says: neighbouring nibbles
    let d = f16_at(block, 0);
    for (j, &byte) in block[2..].iter().enumerate() {
        out[2 * j] = d * (f32::from(byte & 15) - 8.0);
        out[2 * j + 1] = d * (f32::from(byte >> 4) - 8.0);
    }
