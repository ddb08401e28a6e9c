//! id: epsilon-for-zero
//! function: quantize
//! says: A small scale counts as 0 here; only a scale of 0 does, or small weights are lost.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d < f32::EPSILON { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
block
