//! id: q4-offset
//! function: dequantize
//! says: You centred the integers at 7.5, where no weight would be 0: take 8 off.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * (f32::from(byte & 15) - 7.5);
    out[j + 16] = d * (f32::from(byte >> 4) - 7.5);
}
