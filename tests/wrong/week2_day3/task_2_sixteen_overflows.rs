//! id: clip-missing
//! function: quantize
//! says: An integer of 16 does not fit into four bits: it becomes 0, or runs over into the other half of its byte. A weight as large as the largest, of the other sign, must become 15.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -8.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let code = |x: f32| (x * inverse + 8.5) as u8;
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
for j in 0..16 {
    block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
}
block
