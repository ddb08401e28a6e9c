//! id: q4-layout-left
//! function: dequantize
//! says: You read the low bits from byte 2, as Q4_0 has them; there stand the fifth bits, and the low bits follow from byte 6 on.
let d = f16_at(block, 0);
let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
for (j, &byte) in block[2..18].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
    out[j + 16] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
}
