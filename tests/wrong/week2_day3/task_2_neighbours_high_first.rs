//! id: q4-nibble-order
//! function: dequantize
//! says: You put the two halves of byte j side by side, the high half first; the low half is weight j, the high half weight j + 16.
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[2 * j + 1] = d * (f32::from(byte & 15) - 8.0);
    out[2 * j] = d * (f32::from(byte >> 4) - 8.0);
}
