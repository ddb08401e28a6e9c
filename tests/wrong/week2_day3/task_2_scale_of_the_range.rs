//! id: scale-of-the-range
//! function: quantize
//! says: Your scale comes from the distance between the smallest and the largest weight, as in Q4_1: Q4_0 has no minimum to go with it.
let largest = x.iter().fold(f32::MIN, |m, &x| m.max(x)) - x.iter().fold(f32::MAX, |m, &x| m.min(x));
let d = largest / 15.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
