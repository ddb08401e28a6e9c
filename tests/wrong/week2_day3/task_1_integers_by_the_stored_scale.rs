//! id: code-vs-stored-scale
//! function: quantize
//! says: Your integers come from the scale after it was rounded to f16; this format takes them from the scale before that.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = { let d = half::f16::from_f32(d).to_f32(); if d == 0.0 { 0.0 } else { 1.0 / d } };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
