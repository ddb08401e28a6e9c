//! `Q8_0`: a block holds 32 weights of 8 bits, and one scale. That is 8.5 bits per weight.
//!
//! ```text
//! byte  0   2                             34
//!       │ d │ q0 q1 q2 …              q31 │
//!        f16  i8 each
//! ```
//!
//! Weight `i` is `d · qi`.
//!
//! Tasks here: week2-day3 task 1 (`dequantize`, `quantize`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16};

/// Number of bytes in a block.
pub const BYTES: usize = 2 + 32;
const _: () = assert!(BYTES == TensorType::Q8_0.block_bytes());

/// Decodes the 32 weights of a block. Converts each integer to f32 and multiplies it by the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    // SOLUTION week2-day3 task 1
    let d = f16_at(block, 0);
    for (x, &q) in out.iter_mut().zip(&block[2..]) {
        *x = d * f32::from(q as i8);
    }
    // END SOLUTION
}

/// Encodes a block of 32 finite weights:
///
/// 1. The scale `d` is the largest magnitude divided by 127.
/// 2. Multiply each weight by `1 / d`, or by 0 if `d` is 0. Use `d` in f32, not the `d` that is
///    rounded to f16 for storage. Round to the nearest integer, halves away from zero.
#[must_use]
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    // SOLUTION week2-day3 task 1
    let absmax = x.iter().fold(0f32, |max, x| max.max(x.abs()));
    let d = absmax / 127.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    for (q, x) in block[2..].iter_mut().zip(x) {
        *q = (x * inverse).round() as i8 as u8;
    }
    block
    // END SOLUTION
}
