//! id: scale-of-the-range
//! function: quantize
//! says: Your scale comes from the distance between the smallest and the largest weight: Q8_0 is symmetric about 0, so the largest magnitude decides.
let absmax = x.iter().fold(f32::MIN, |m, &x| m.max(x)) - x.iter().fold(f32::MAX, |m, &x| m.min(x));
let d = absmax / 255.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let mut block = [0; BYTES];
for (q, x) in block[2..].iter_mut().zip(x) {
    *q = (x * inverse).round() as i8 as u8;
}
put_f16(&mut block, 0, d);
block
