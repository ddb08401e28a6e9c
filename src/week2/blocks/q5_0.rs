//! `Q5_0`: 32 weights of 5 bits, one scale. 5.5 bits a weight.
//!
//! ```text
//! byte  0   2     6                         22
//!       │ d │ qh  │ b0 b1 b2 …          b15 │
//!        f16  │     low half of bj: weight j, high half: weight j + 16
//!             32 bits, lowest first: bit i is the fifth bit of weight i
//! ```
//!
//! weight `i = d · (qi − 16)`, where `qi` is in 0…31: four bits of a byte, and above them the bit
//! from `qh`.
//!
//! Tasks here: week2-day3 task 3 (`dequantize`, `quantize`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16};

/// Bytes in a block.
pub const BYTES: usize = 2 + 4 + 16;
const _: () = assert!(BYTES == TensorType::Q5_0.block_bytes());

/// The 32 weights of a block: 16 is taken off each integer, and the rest, as f32, times the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    todo!("week2-day3 task 3: dequantize")
}

/// A block of 32 finite weights, as `Q4_0` with one bit more: `d` is the weight of largest
/// magnitude (the first of them), with its sign, divided by −16. Each weight is multiplied by
/// `1 / d`, or by 0 where `d` is 0; 16.5 is added, the fraction dropped, and 32 becomes 31. The
/// integers come from `d` before it is rounded to f16.
#[must_use]
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    todo!("week2-day3 task 3: quantize")
}
