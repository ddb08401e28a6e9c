//! id: rounding-of-halves
//! function: quantize
//! says: You round halves away from zero, as Q8_0 does; here 8.5 is added and the fraction dropped, so halves go up, −2.5 to −2.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse).round() as i8 + 8).min(15) as u8;
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
