//! id: q4-offset
//! function: dequantize
//! says: The subtraction ran in u8, where 3 − 8 is 251: convert to a signed type or to f32 before 8 is taken off.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * f32::from((byte & 15).wrapping_sub(8));
    out[j + 16] = d * f32::from((byte >> 4).wrapping_sub(8));
}
