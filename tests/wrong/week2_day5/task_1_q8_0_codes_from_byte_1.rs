//! id: header-as-codes
//! function: dot_q8_0
//! says: Codes begin at byte 2, behind the two bytes of the scale: you began at byte 1.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
    let codes = block[1..].iter().map(|&q| f32::from(q as i8));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += f16_at(block, 0) * qx;
}
sum
