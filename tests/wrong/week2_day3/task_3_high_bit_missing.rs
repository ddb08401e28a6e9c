//! id: q5-highbit
//! function: dequantize
//! says: The fifth bit is missing: bit i of the four bytes behind the scale belongs to weight i and is worth 16.
let d = f16_at(block, 0);
let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
let fifth = |i: usize| 0u8;
for (j, &byte) in block[6..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
    out[j + 16] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
}
