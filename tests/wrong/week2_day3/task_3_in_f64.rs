//! id: computed-in-f64
//! function: quantize
//! says: You compute integers in f64; prescribed are operations in f32, each rounded, or another writer’s file is not yours.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -16.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let codes = x.map(|x| ((f64::from(x) * (if inverse == 0.0 { 0.0 } else { 1.0 / (f64::from(largest) / -16.0) }) + 16.5) as u8).min(31));
let high = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << i);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
