//! `Q5_1`: 32 weights of 5 bits, a scale and a minimum. This takes 6 bits per weight.
//!
//! ```text
//! byte  0   2   4     8                         24
//!       │ d │ m │ qh  │ b0 b1 b2 …          b15 │
//!        f16 f16  │     low half of bj: weight j, high half: weight j + 16
//!                 32 bits, lowest first: bit i is the fifth bit of weight i
//! ```
//!
//! weight `i = d · qi + m`, where `qi` is in 0…31.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16, range};

/// Size of a block in bytes.
pub const BYTES: usize = 2 + 2 + 4 + 16;
const _: () = assert!(BYTES == TensorType::Q5_1.block_bytes());

/// Decodes the 32 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let (d, m) = (f16_at(block, 0), f16_at(block, 2));
    let high = u32::from_le_bytes([block[4], block[5], block[6], block[7]]);
    let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
    for (j, &byte) in block[8..].iter().enumerate() {
        out[j] = d * f32::from(byte & 15 | fifth(j)) + m;
        out[j + 16] = d * f32::from(byte >> 4 | fifth(j + 16)) + m;
    }
}

/// Encodes a block of 32 finite weights. `m` is the smallest weight, and `d` is the difference
/// between the largest and the smallest, divided by 31. Both are rounded to f16 only when they are
/// stored.
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    let (min, max) = range(x);
    let d = (max - min) / 31.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    let codes = x.map(|x| (((x - min) * inverse + 0.5) as u8).min(31));
    let high = codes.iter().enumerate().fold(0u32, |high, (i, q)| high | u32::from(q >> 4) << i);
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    put_f16(&mut block, 2, min);
    block[4..8].copy_from_slice(&high.to_le_bytes());
    for j in 0..16 {
        block[8 + j] = codes[j] & 15 | codes[j + 16] << 4;
    }
    block
}
