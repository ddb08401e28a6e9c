//! id: q4-scale-sign
//! function: quantize
//! says: Your scale has no sign, so a largest weight above zero does not fit, since 8 + 8 is 16: divide the weight itself, with its sign, by −8.
let largest = x.iter().fold(0f32, |max, x| max.max(x.abs()));
let d = largest / 8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
