//! `Q4_1`: 32 weights of 4 bits, a scale and a minimum. This takes 5 bits per weight.
//!
//! ```text
//! byte  0   2   4                         20
//!       │ d │ m │ b0 b1 b2 …          b15 │
//!        f16 f16  low half of bj: weight j, high half: weight j + 16
//! ```
//!
//! weight `i = d · qi + m`, where `qi` is in 0…15.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16, range};

/// Size of a block in bytes.
pub const BYTES: usize = 2 + 2 + 16;
const _: () = assert!(BYTES == TensorType::Q4_1.block_bytes());

/// Decodes the 32 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    let (d, m) = (f16_at(block, 0), f16_at(block, 2));
    for (j, &byte) in block[4..].iter().enumerate() {
        out[j] = d * f32::from(byte & 15) + m;
        out[j + 16] = d * f32::from(byte >> 4) + m;
    }
}

/// Encodes a block of 32 finite weights. `m` is the smallest weight, and `d` is the difference
/// between the largest and the smallest, divided by 15. Both are rounded to f16 only when they are
/// stored.
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    let (min, max) = range(x);
    let d = (max - min) / 15.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    let code = |x: f32| (((x - min) * inverse + 0.5) as u8).min(15);
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    put_f16(&mut block, 2, min);
    for j in 0..16 {
        block[4 + j] = code(x[j]) | code(x[j + 16]) << 4;
    }
    block
}
