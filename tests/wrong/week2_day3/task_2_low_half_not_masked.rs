//! id: nibble-shift
//! function: dequantize
//! says: The low half still has the high half above it: keep its four bits alone (`& 15`).
let d = f16_at(block, 0);
for (j, &byte) in block[2..].iter().enumerate() {
    out[j] = d * (f32::from(byte) - 8.0);
    out[j + 16] = d * (f32::from(byte >> 4) - 8.0);
}
