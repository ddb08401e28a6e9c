//! `Q4_K`: a block holds 256 weights of 4 bits, with a 6-bit scale and a 6-bit minimum for every 32
//! weights. That is 4.5 bits per weight.
//!
//! ```text
//! byte  0   2      4          16                         144
//!       │ d │ dmin │ s0 … s11 │ b0 b1 b2 …          b127 │
//!        f16  f16    8 scales and 8 minimums
//! ```
//!
//! Every 32 bytes hold 64 weights. `b0…b31` hold weights 0…31 in their low halves and 32…63 in
//! their high halves, and so on.
//!
//! The 12 bytes `s0…s11` hold the scales `a` and the minimums `m`. In this table, `j` is a
//! byte's index in its row (0 to 3), and each byte's highest bit is on the left:
//!
//! ```text
//! s0 … s3     upper two bits of a(4 + j) │ a(j)
//! s4 … s7     upper two bits of m(4 + j) │ m(j)
//! s8 … s11    low four bits of m(4 + j)  │ low four bits of a(4 + j)
//! ```
//!
//! Weight `i` is `(d · scale) · qi − (dmin · minimum)`, where the scale and the minimum have index
//! `i / 32`, and `qi` is in 0…15.
//!
//! Tasks here: week2-day4 task 1 (`scales_and_minimums`, `dequantize`), week2-day4 task 4
//! (`pack_scales_and_minimums`, `quantize`). Everything else is provided.

use std::array::from_fn;

use tiny_llm_formats::gguf::TensorType;

use super::{
    f16_at, put_f16,
    search::{code, search_scale_and_min, share},
};

/// Number of bytes in a block.
pub const BYTES: usize = 2 + 2 + 12 + 128;
const _: () = assert!(BYTES == TensorType::Q4_K.block_bytes());

/// Unpacks 8 scales and 8 minimums of 6 bits each. `Q5_K` packs them in the same way.
#[must_use]
pub fn scales_and_minimums(packed: &[u8; 12]) -> ([u8; 8], [u8; 8]) {
    todo!("week2-day4 task 1: scales_and_minimums")
}

/// Decodes the 256 weights of a block. For each weight, first multiply `d · scale` by the integer.
/// Then subtract `dmin · minimum`.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    todo!("week2-day4 task 1: dequantize")
}

/// Packs 8 scales and 8 minimums, all below 64. This is the inverse of [`scales_and_minimums`].
#[must_use]
pub fn pack_scales_and_minimums(scales: &[u8; 8], minimums: &[u8; 8]) -> [u8; 12] {
    todo!("week2-day4 task 4: pack_scales_and_minimums")
}

/// Encodes a block of 256 finite weights. Every 32 weights get a scale and a minimum from
/// [`search_scale_and_min`]. The eight scales share `d`, and the eight minimums share `dmin` (see
/// [`share`], with 6 bits). Compute each weight's integer from the scale and the minimum **as they
/// are stored**, and round to nearest.
#[must_use]
pub fn quantize(x: &[f32; 256]) -> [u8; BYTES] {
    todo!("week2-day4 task 4: quantize")
}
