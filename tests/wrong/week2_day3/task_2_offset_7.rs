//! id: q4-offset
//! function: dequantize
//! says: You take 7 off: the stored integer is the value plus 8.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15) - 7.0);
    out[j + 16] = d * (f32::from(byte >> 4) - 7.0);
}
