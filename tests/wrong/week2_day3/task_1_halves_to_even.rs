//! id: rounding-of-halves
//! function: quantize
//! says: You round halves to the even neighbour; this format rounds them away from zero, as `round` does.
let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = absmax / 127.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round_ties_even() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
