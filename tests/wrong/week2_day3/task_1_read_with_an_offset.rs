//! id: q4-offset
//! function: dequantize
//! says: You took 128 off unsigned integers: Q8_0 has no offset, its bytes are signed as they are.
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = d * (f32::from(q) - 128.0);
}
