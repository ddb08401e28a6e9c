//! id: unseen
//! function: dequantize
//! says: neighbouring nibbles
    let d = f16_at(block, 0);
    let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
    for (j, &byte) in block[6..].iter().enumerate() {
        out[2 * j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
        out[2 * j + 1] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
    }
