//! id: arithmetic-shift
//! function: dequantize
//! says: You shift the byte as a signed one, which draws its sign bit into the high half: shift a `u8`.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15) - 8.0);
    out[j + 16] = d * (f32::from(byte as i8 >> 4) - 8.0);
}
