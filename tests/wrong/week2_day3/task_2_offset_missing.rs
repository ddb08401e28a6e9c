//! id: q4-offset
//! function: dequantize
//! says: Nothing was taken off: the integer 8 stands for a weight of 0.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * f32::from(byte & 15);
    out[j + 16] = d * f32::from(byte >> 4);
}
