//! `Q8_0`: 32 weights of 8 bits, one scale. 8.5 bits a weight.
//!
//! ```text
//! byte  0   2                             34
//!       │ d │ q0 q1 q2 …              q31 │
//!        f16  i8 each
//! ```
//!
//! weight `i = d · qi`

use tiny_llm_kit::gguf::TensorType;

use super::f16_at;

/// Bytes in a block.
pub const BYTES: usize = 2 + 32;
const _: () = assert!(BYTES == TensorType::Q8_0.block_bytes());

/// The 32 weights of a block: the integer, as f32, times the scale.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 32]) {
    // SOLUTION week2-day3 task 1
    let d = f16_at(block, 0);
    for (x, &q) in out.iter_mut().zip(&block[2..]) {
        *x = d * f32::from(q as i8);
    }
    // END SOLUTION
}
