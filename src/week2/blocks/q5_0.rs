//! `Q5_0`: a block holds 32 weights of 5 bits, and one scale. That is 5.5 bits per weight.
//!
//! ```text
//! byte  0   2     6                         22
//!       │ d │ qh  │ b0 b1 b2 …          b15 │
//!        f16  │     low half of bj: weight j, high half: weight j + 16
//!             32 bits, lowest first: bit i is the fifth bit of weight i
//! ```
//!
//! Weight `i` is `d · (qi − 16)`, where `qi` is in 0…31. The low four bits of `qi` are half of a
//! byte `bj`, and the fifth bit of `qi` is in `qh`.
//!
//! Tasks here: week2-day3 task 3 (`dequantize`, `quantize`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16};

/// Number of bytes in a block.
pub const BYTES: usize = 2 + 4 + 16;
const _: () = assert!(BYTES == TensorType::Q5_0.block_bytes());

/// Decodes the 32 weights of a block. Converts each integer to f32, subtracts 16, and multiplies
/// the result by the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    todo!("week2-day3 task 3: dequantize")
}

/// Encodes a block of 32 finite weights, as in `Q4_0`, but with one more bit:
///
/// 1. Find `w`, the first of the weights with the largest magnitude. Keep its sign.
/// 2. The scale is `d = w / −16`.
/// 3. Multiply each weight by `1 / d`, or by 0 if `d` is 0. Add 16.5, drop the fraction, and turn
///    32 into 31. Compute the integers from `d` before it is rounded to f16.
#[must_use]
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    todo!("week2-day3 task 3: quantize")
}
