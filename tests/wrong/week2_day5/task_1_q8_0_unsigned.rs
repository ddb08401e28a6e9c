//! id: q8-as-u8
//! function: dot_q8_0
//! says: You read the codes as 0…255; they are signed, so cast to i8 first.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
    let codes = block[2..].iter().map(|&q| f32::from(q));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += f16_at(block, 0) * qx;
}
sum
