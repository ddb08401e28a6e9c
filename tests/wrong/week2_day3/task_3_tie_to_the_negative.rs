//! id: last-of-equals
//! function: quantize
//! says: Of two weights of the same magnitude you always take the negative one; the first of them decides.
let largest = {
    let (lo, hi) = x.iter().fold((0f32, 0f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    if hi > -lo { hi } else { lo }
};
let d = largest / -16.0;
let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
let codes = x.map(|x| ((x * inverse + 16.5) as u8).min(31));
let high = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << i);
let mut block = [0; BYTES];
put_f16(&mut block, 0, d);
block[2..6].copy_from_slice(&high.to_le_bytes());
for j in 0..16 {
    block[6 + j] = codes[j] & 15 | codes[j + 16] << 4;
}
block
