//! id: divide-for-inverse
//! function: quantize
//! says: You divide each weight by the scale; prescribed is the product with `1 / d`, which is rounded otherwise now and then.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((if inverse == 0.0 { 0.0 } else { x / d } + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
