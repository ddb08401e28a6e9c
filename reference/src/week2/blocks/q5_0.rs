//! `Q5_0`: 32 weights of 5 bits, one scale. 5.5 bits a weight.
//!
//! ```text
//! byte  0   2     6                         22
//!       │ d │ qh  │ b0 b1 b2 …          b15 │
//!        f16  │     low half of bj: weight j, high half: weight j + 16
//!             32 bits, lowest first: bit i is the fifth bit of weight i
//! ```
//!
//! weight `i = d · (qi − 16)`, where `qi` is in 0…31: four bits of a byte, and above them the bit from `qh`.

use tiny_llm_kit::gguf::TensorType;

use super::f16_at;

/// Bytes in a block.
pub const BYTES: usize = 2 + 4 + 16;
const _: () = assert!(BYTES == TensorType::Q5_0.block_bytes());

/// The 32 weights of a block: 16 is taken off each integer, and the rest, as f32, times the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    // SOLUTION week2-day3 task 3
    let d = f16_at(block, 0);
    let high = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    let fifth = |i: usize| ((high >> i & 1) << 4) as u8;
    for (j, &byte) in block[6..].iter().enumerate() {
        out[j] = d * (f32::from(byte & 15 | fifth(j)) - 16.0);
        out[j + 16] = d * (f32::from(byte >> 4 | fifth(j + 16)) - 16.0);
    }
    // END SOLUTION
}
