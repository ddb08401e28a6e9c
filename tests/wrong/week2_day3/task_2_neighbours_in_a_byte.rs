//! id: q4-nibble-order
//! function: quantize
//! says: You packed weights 2j and 2j + 1 into byte j; they are weights j and j + 16.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[2 * j]) | code(x[2 * j + 1]) << 4;
}
block
