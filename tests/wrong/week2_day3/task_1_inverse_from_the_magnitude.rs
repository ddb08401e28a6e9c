//! id: divide-for-inverse
//! function: quantize
//! says: You multiply by 127 / largest; prescribed is 1 / d, and d is rounded before it is inverted.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 127.0 / absmax };
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
block
