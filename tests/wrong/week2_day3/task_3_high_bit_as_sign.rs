//! id: q5-highbit
//! function: dequantize
//! says: You read the fifth bit as a sign: it is the highest bit of the stored integer, from which 16 is taken off.
let d = f16_at(block, 0);
let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
for (j, &byte) in block[6..].iter().enumerate() {
    out[j] = d * if fifth(j) == 0 { f32::from(byte & 15) } else { -f32::from(byte & 15) };
    out[j + 16] = d * if fifth(j + 16) == 0 { f32::from(byte >> 4) } else { -f32::from(byte >> 4) };
}
