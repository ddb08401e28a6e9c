//! `Q4_0`: a block holds 32 weights of 4 bits, and one scale. That is 4.5 bits per weight.
//!
//! ```text
//! byte  0   2                         18
//!       │ d │ b0 b1 b2 …          b15 │
//!        f16  low half of bj: weight j, high half: weight j + 16
//! ```
//!
//! Weight `i` is `d · (qi − 8)`, where `qi` is in 0…15.
//!
//! Tasks here: week2-day3 task 2 (`dequantize`, `quantize`). Everything else is provided.

use tiny_llm_formats::gguf::TensorType;

use super::{f16_at, put_f16};

/// Number of bytes in a block.
pub const BYTES: usize = 2 + 16;
const _: () = assert!(BYTES == TensorType::Q4_0.block_bytes());

/// Decodes the 32 weights of a block. Converts each integer to f32, subtracts 8, and multiplies the
/// result by the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    // SOLUTION week2-day3 task 2
    let d = f16_at(block, 0);
    for (j, &byte) in block[2..].iter().enumerate() {
        out[j] = d * (f32::from(byte & 15) - 8.0);
        out[j + 16] = d * (f32::from(byte >> 4) - 8.0);
    }
    // END SOLUTION
}

/// Encodes a block of 32 finite weights:
///
/// 1. Find `w`, the first of the weights with the largest magnitude. Keep its sign.
/// 2. The scale is `d = w / −8`. So `w` becomes the integer 0, which represents −8. No integer
///    represents +8.
/// 3. Multiply each weight by `1 / d`, or by 0 if `d` is 0. Add 8.5, drop the fraction, and turn 16
///    into 15. Compute the integers from `d` before it is rounded to f16.
#[must_use]
pub fn quantize(x: &[f32; 32]) -> [u8; BYTES] {
    // SOLUTION week2-day3 task 2
    let largest =
        x.iter().fold(x[0], |largest, &x| if x.abs() > largest.abs() { x } else { largest });
    let d = largest / -8.0;
    let inverse = if d == 0.0 { 0.0 } else { 1.0 / d };
    let code = |x: f32| ((x * inverse + 8.5) as u8).min(15);
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    for j in 0..16 {
        block[2 + j] = code(x[j]) | code(x[j + 16]) << 4;
    }
    block
    // END SOLUTION
}
