//! id: block-layout
//! function: dequantize
//! says: Your integers begin at byte 0, where the scale lies: the first of them is byte 2.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[..32]) {
    *x = d * f32::from(q as i8);
}
