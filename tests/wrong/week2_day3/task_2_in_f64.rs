//! id: computed-in-f64
//! function: quantize
//! says: You compute integers in f64; prescribed are operations in f32, each rounded, or another writer’s file is not yours.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((f64::from(x) * (if inverse == 0.0 { 0.0 } else { 1.0 / (f64::from(largest) / -8.0) }) + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
