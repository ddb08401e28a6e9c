//! id: bit-index-off-by-one
//! function: quantize
//! says: The fifth bits of weights 16 to 31 stand one place too low: bit i belongs to weight i.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -16.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let codes = x.map(|x| ((x * inverse + 16.5) as u8).min(31));
let high = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << (if i < 16 { i } else { i - 1 }));
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
