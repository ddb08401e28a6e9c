//! id: q4-offset
//! function: dequantize
//! says: You take 8 off after the product: it is taken off the integer, and then multiplied.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * f32::from(byte & 15) - 8.0;
    out[j + 16] = d * f32::from(byte >> 4) - 8.0;
}
