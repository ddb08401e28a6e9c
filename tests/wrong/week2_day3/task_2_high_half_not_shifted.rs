//! id: nibble-shift
//! function: dequantize
//! says: The high half is still 16 times too large: shift it down by four bits.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15) - 8.0);
    out[j + 16] = d * (f32::from(byte & 0xf0) - 8.0);
}
