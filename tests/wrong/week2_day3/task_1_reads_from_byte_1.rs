//! id: layout-shifted
//! function: dequantize
//! says: You read the integers from byte 1 on; the scale takes bytes 0 and 1, so they begin at byte 2.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[1..33]) {
    *x = d * f32::from(q as i8);
}
