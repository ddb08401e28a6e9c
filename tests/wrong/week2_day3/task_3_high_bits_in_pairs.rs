//! id: q5-highbit
//! function: quantize
//! says: Fifth bits 2j and 2j + 1 are those of byte j; bit i belongs to weight i, and byte j holds weights j and j + 16.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -16.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let codes: [u8; 32] = x.map(|x| ((x * inverse + 16.5) as u8).min(31));
let high: u32 = (0..16).fold(0u32, |high, j| high | u32::from(codes[j] >> 4) << (2 * j) | u32::from(codes[j + 16] >> 4) << (2 * j + 1));
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
