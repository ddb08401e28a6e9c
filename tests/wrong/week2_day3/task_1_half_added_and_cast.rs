//! id: round-by-cast
//! function: quantize
//! says: You add 0.5 and cast: a cast drops the fraction towards zero, so negative weights come out one too high. `round` it.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse + 0.5) as i8 as u8;
}
block
