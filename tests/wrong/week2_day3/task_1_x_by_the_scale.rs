//! id: divide-for-inverse
//! function: quantize
//! says: You divide each weight by the scale; prescribed is the product with `1 / d`, which is rounded otherwise now and then.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (if inverse == 0.0 { 0.0 } else { x / d }).round() as i8 as u8;
}
block
