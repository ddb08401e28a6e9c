//! id: trunc-not-round
//! function: quantize
//! says: You round down, also below zero: round to the nearest integer.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).floor() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
