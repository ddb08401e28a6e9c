//! id: trunc-not-round
//! function: quantize
//! says: A cast to an integer drops the fraction: 2.9 becomes 2, so round first.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse) as i8 as u8;
}
put_f16(&mut block, 0, d);
block
