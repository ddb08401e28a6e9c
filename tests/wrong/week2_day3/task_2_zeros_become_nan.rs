//! id: zero-block-nan
//! function: quantize
//! says: A block of zeros has the scale 0, and 0 times 1 / 0 is NaN, which a cast makes 0: the integer for a weight of 0 is 8.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = 1.0 / d;
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
