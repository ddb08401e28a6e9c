//! id: q8-as-u8
//! function: quantize
//! says: Every negative weight became 0: a cast from a float to u8 stops at 0, so cast to i8 first, and then to u8.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as u8;
}
put_f16(&mut block, 0, d);
block
