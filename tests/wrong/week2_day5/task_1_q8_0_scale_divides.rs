//! id: scale-inverse
//! function: dot_q8_0
//! says: You divide by the scale: a weight is its code times d.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
    let codes = block[2..].iter().map(|&q| f32::from(q as i8));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += qx / f16_at(block, 0);
}
sum
