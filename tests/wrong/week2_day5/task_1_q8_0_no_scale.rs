//! id: scale-forgotten
//! function: dot_q8_0
//! says: Your products have no scale: multiply each block's sum by its d.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(x.chunks_exact(32)) {
    let codes = block[2..].iter().map(|&q| f32::from(q as i8));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += qx;
}
sum
