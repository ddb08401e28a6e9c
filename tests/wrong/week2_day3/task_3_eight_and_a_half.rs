//! id: q4-offset-left
//! function: quantize
//! says: You add 8.5, as Q4_0 does; five bits are stored with 16 on top, so add 16.5.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -16.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let codes = x.map(|x| ((x * inverse + 8.5) as u8).min(31));
let high = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << i);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
