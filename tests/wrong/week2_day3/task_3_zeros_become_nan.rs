//! id: zero-block-nan
//! function: quantize
//! says: A block of zeros has the scale 0, and 0 times 1 / 0 is NaN, which a cast makes 0: the integer for a weight of 0 is 16.
let largest = x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
let d = largest / -16.0;
let inverse = 1.0 / d;
let codes: [u8; 32] = x.map(|x| ((x * inverse + 16.5) as u8).min(31));
let high: u32 = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << i);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
