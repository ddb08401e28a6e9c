//! id: absmax-without-abs
//! function: quantize
//! says: The largest weight is not the one of largest magnitude: compare magnitudes, and keep the weight with its sign.
let largest = x.iter().fold(x[0], |l, &x| if x > l { x } else { l });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
