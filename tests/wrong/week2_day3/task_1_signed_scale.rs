//! id: q4-scale-sign
//! function: quantize
//! says: You took the scale of Q4_0, with a sign and one step more: in Q8_0 it is the largest magnitude / 127.
let absmax = x.iter().fold(x[0], |l, &x| if x.abs() > l.abs() { x } else { l });
let d = absmax / -128.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
