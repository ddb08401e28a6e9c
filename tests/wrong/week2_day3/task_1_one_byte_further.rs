//! id: block-layout
//! function: dequantize
//! says: Every weight is one place too early: the first integer is byte 2, not byte 3.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(block[3..].iter().chain(&block[2..3])) {
    *x = d * f32::from(q as i8);
}
