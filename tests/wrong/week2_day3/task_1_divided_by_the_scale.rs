//! id: scale-inverse
//! function: dequantize
//! says: You divide by the scale: a weight is the integer times the scale.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = f32::from(q as i8) / d;
}
