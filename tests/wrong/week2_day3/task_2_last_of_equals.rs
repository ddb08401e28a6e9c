//! id: last-of-equals
//! function: quantize
//! says: Of two weights of the same magnitude you took the last, as `max_by` does; the first decides, and with it the sign of the scale.
let largest = x.iter().fold(x[0], |l, &x| if x.abs() >= l.abs() { x } else { l });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
