//! id: byte-order
//! function: dequantize
//! says: You read `qh` big-endian: byte 2 holds the fifth bits of weights 0 to 7, byte 3 those of 8 to 15.
let d = f16_at(block, 0);
let high = u32::from_be_bytes([block[2], block[3], block[4], block[5]]);
let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
for (j, &byte) in block[6..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
    out[j + 16] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
}
