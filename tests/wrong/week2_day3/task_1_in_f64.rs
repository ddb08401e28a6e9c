//! id: computed-in-f64
//! function: quantize
//! says: You compute integers in f64; prescribed are operations in f32, each rounded, or another writer’s file is not yours.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (f64::from(*x) * (if d == 0.0 { 0.0 } else { 1.0 / (f64::from(absmax) / 127.0) })).round() as i8 as u8;
}
block
