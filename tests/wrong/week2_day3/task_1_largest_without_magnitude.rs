//! id: absmax-without-abs
//! function: quantize
//! says: The largest weight is not the largest magnitude: in a block that reaches further below zero it is too small.
let absmax = x.iter().fold(0f32, |max, &x| max.max(x));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
