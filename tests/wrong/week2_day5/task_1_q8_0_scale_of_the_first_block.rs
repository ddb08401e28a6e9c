//! id: scale-of-another-block
//! function: dot_q8_0
//! says: Every block has a scale of its own; you use the first one for all.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
    let codes = block[2..].iter().map(|&q| f32::from(q as i8));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += f16_at(row, 0) * qx;
}
sum
