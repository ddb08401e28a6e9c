//! id: offset-outside-the-scale
//! function: dequantize
//! says: In the low half you take 8 off the product, not off the integer: `d * (q - 8)`.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * f32::from(byte & 15) - 8.0;
    out[j + 16] = d * (f32::from(byte >> 4) - 8.0);
}
