//! `Q2_K`: 256 weights of 2 bits; a scale and a minimum of 4 bits for each 16. 2.625 bits a weight.
//!
//! ```text
//! byte  0             16                    80  82     84
//!       │ s0 … s15    │ b0 b1 …         b63 │ d │ dmin │
//!         low half: scale, high half: minimum  f16 f16
//! ```
//!
//! `b0…b31` hold weights 0…127, `b32…b63` weights 128…255. Byte `j` of such a half holds four weights that stand 32 apart: `j` in
//! its lowest two bits, `j + 32`, `j + 64`, `j + 96` above it.
//!
//! weight `i = (d · scale) · qi − (dmin · minimum)`, with scale and minimum number `i / 16` and `qi` in 0…3.

use tiny_llm_kit::gguf::TensorType;

use super::f16_at;

/// Bytes in a block.
pub const BYTES: usize = 16 + 64 + 2 + 2;
const _: () = assert!(BYTES == TensorType::Q2_K.block_bytes());

/// The 256 weights of a block.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    let (scales, quants) = (&block[..16], &block[16..80]);
    let (d, dmin) = (f16_at(block, 80), f16_at(block, 82));
    for (i, x) in out.iter_mut().enumerate() {
        let scale = d * f32::from(scales[i / 16] & 15);
        let minimum = dmin * f32::from(scales[i / 16] >> 4);
        // Weight i: in half i / 128, in lane i / 32 % 4, at byte i % 32.
        let q = quants[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
        *x = scale * f32::from(q) - minimum;
    }
}
