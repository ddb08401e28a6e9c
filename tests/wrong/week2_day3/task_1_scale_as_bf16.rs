//! id: bf16-as-f16
//! function: dequantize
//! says: The scale was read as bf16; it is an f16, with five bits of exponent.
let d = half::bf16::from_le_bytes([block[0], block[1]]).to_f32();
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = d * f32::from(q as i8);
}
