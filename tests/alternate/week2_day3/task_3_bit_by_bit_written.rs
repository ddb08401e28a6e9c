//! function: quantize
//! how: the fifth bit into its byte
let at = (0..32).rev().max_by(|&a, &b| x[a].abs().total_cmp(&x[b].abs())).unwrap();
let d = x[at] / -16.0;
let inverse = if d != 0.0 { d.recip() } else { 0.0 };
let mut block = [0u8; BYTES];
put_f16(&mut block, 0, d);
for i in 0..32 {
    let q = (x[i] * inverse + 16.5) as i32;
    let q = q.clamp(0, 31) as u8;
    block[2 + i / 8] |= (q >> 4) << (i % 8);
    block[6 + i % 16] |= (q & 15) << (4 * (i / 16));
}
block
