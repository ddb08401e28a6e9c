//! id: activations-not-advanced
//! function: dot_q8_0
//! says: Every block meets the first 32 activations: block b meets those from 32·b on.
let mut sum = 0.0;
for (block, x) in row.chunks_exact(34).zip(std::iter::repeat(&x[..32])) {
    let codes = block[2..].iter().map(|&q| f32::from(q as i8));
    let qx: f32 = codes.zip(x).map(|(q, x)| q * x).sum();
    sum += f16_at(block, 0) * qx;
}
sum
