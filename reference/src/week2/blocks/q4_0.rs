//! `Q4_0`: 32 weights of 4 bits, one scale. 4.5 bits a weight.
//!
//! ```text
//! byte  0   2                         18
//!       │ d │ b0 b1 b2 …          b15 │
//!        f16  low half of bj: weight j, high half: weight j + 16
//! ```
//!
//! weight `i = d · (qi − 8)`, where `qi` is in 0…15.

use tiny_llm_kit::gguf::TensorType;

use super::f16_at;

/// Bytes in a block.
pub const BYTES: usize = 2 + 16;
const _: () = assert!(BYTES == TensorType::Q4_0.block_bytes());

/// The 32 weights of a block: 8 is taken off each integer, and the rest, as f32, times the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    // SOLUTION week2-day3 task 2
    let d = f16_at(block, 0);
    for (j, &byte) in block[2..].iter().enumerate() {
        out[j] = d * (f32::from(byte & 15) - 8.0);
        out[j + 16] = d * (f32::from(byte >> 4) - 8.0);
    }
    // END SOLUTION
}
