//! id: int8-scale-range
//! function: quantize
//! says: Your scale is the largest magnitude / 128; the largest integer is 127, so divide by that.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 128.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
