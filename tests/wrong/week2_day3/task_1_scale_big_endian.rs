//! id: scale-endian
//! function: dequantize
//! says: The two bytes of the scale are in the wrong order: the lower one comes first.
let d = half::f16::from_be_bytes([block[0], block[1]]).to_f32();
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = d * f32::from(q as i8);
}
