//! id: q4-offset
//! function: dequantize
//! says: You read five bits as two’s complement, where 31 is −1; here the stored integer is the value plus 16, so 31 is 15.
let d = f16_at(block, 0);
let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
for (j, &byte) in block[6..].iter().enumerate() {
    out[j] = d * f32::from((((byte & 15 | fifth(j)) << 3) as i8) >> 3);
    out[j + 16] = d * f32::from((((byte >> 4 | fifth(j + 16)) << 3) as i8) >> 3);
}
