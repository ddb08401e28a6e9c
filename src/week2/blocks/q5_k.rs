//! `Q5_K`: 256 weights of 5 bits; a scale and a minimum of 6 bits for each 32. 5.5 bits a weight.
//!
//! ```text
//! byte  0   2      4          16           48                         176
//!       │ d │ dmin │ s0 … s11 │ h0 … h31   │ b0 b1 b2 …          b127 │
//!        f16  f16               fifth bits   low four bits
//! ```
//!
//! Scales, minimums and the low four bits lie as in `Q4_K`. The fifth bit of weight `i` is bit `i / 32` of `h(i % 32)`.
//!
//! weight `i = (d · scale) · qi − (dmin · minimum)`, with scale and minimum number `i / 32` and `qi` in 0…31.

use tiny_llm_kit::gguf::TensorType;

use super::{f16_at, q4_k::scales_and_minimums};

/// Bytes in a block.
pub const BYTES: usize = 2 + 2 + 12 + 32 + 128;
const _: () = assert!(BYTES == TensorType::Q5_K.block_bytes());

/// The 256 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
    let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
    let high = &block[16..48];
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let scale = d * f32::from(scales[j]);
        let minimum = dmin * f32::from(minimums[j]);
        let bytes = &block[48 + j / 2 * 32..][..32];
        for (i, x) in out.iter_mut().enumerate() {
            let q = bytes[i] >> (j % 2 * 4) & 15 | (high[i] >> j & 1) << 4;
            *x = scale * f32::from(q) - minimum;
        }
    }
}
