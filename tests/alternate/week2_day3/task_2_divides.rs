//! function: quantize
//! how: divides by the scale, rounds down with floor
let mut largest = x[0];
for &x in x {
    if x.abs() > largest.abs() {
        largest = x;
    }
}
let d = largest / -8.0;
let code = |x: f32| if d == 0.0 { 8 } else { (x / d + 8.5).floor().clamp(0.0, 15.0) as u8 };
let mut block = [0u8; BYTES];
put_f16(&mut block, 0, d);
for (byte, (low, high)) in block[2..].iter_mut().zip(x[..16].iter().zip(&x[16..])) {
    *byte = code(*low) + 16 * code(*high);
}
block
