//! id: code-vs-stored-scale
//! function: quantize
//! says: Your integers come from the scale after it was rounded to f16; this format takes them from the scale before that.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = { let d = half::f16::from_f32(d).to_f32(); if d == 0.0 { 0.0 } else { 1.0 / d } };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
