//! id: block-layout
//! function: dequantize
//! says: You look for the fifth bits behind the other four: they lie between the scale and the rest.
let d = f16_at(block, 0);
let high = u32::from_le_bytes([block[18], block[19], block[20], block[21]]);
let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
for (j, &byte) in block[2..18].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
    out[j + 16] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
}
