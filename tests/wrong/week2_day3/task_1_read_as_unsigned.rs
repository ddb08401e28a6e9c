//! id: q8-as-u8
//! function: dequantize
//! says: The integers of Q8_0 are signed, and you read them as 0…255: the byte 255 is −1 (`as i8`).
let d = f16_at(block, 0);
for (x, &q) in out.iter_mut().zip(&block[2..]) {
    *x = d * f32::from(q);
}
