//! `Q6_K`: a block holds 256 weights of 6 bits, with an 8-bit scale for every 16 weights. That is
//! 6.5625 bits per weight.
//!
//! ```text
//! byte  0                   128            192          208 210
//!       │ b0 b1 …      b127 │ h0 … h63     │ s0 … s15   │ d │
//!         low four bits       upper two      i8 each     f16
//! ```
//!
//! The first half of the weights (0…127) is in `b0…b63` and `h0…h31`, and the second half (128…255)
//! is in the other `b` and `h` bytes. In this table, the indices of the weights and of the bytes
//! start at 0 in each half:
//!
//! ```text
//! weight           low four bits             upper two bits, in h(i % 32)
//!  0 …  31         low half of b(i)          bits 0, 1
//! 32 …  63         low half of b(i)          bits 2, 3
//! 64 …  95         high half of b(i − 64)    bits 4, 5
//! 96 … 127         high half of b(i − 64)    bits 6, 7
//! ```
//!
//! Weight `i` is `(d · scale) · (qi − 32)`, where the scale has index `i / 16` and `qi` is in 0…63.
//!
//! Tasks here: week2-day4 task 2 (`dequantize`, `quantize`). Everything else is provided.

use std::array::from_fn;

use tiny_llm_formats::gguf::TensorType;

use super::{
    f16_at, put_f16,
    search::{code, share_signed},
    search_scale::search_scale,
};

/// Number of bytes in a block.
pub const BYTES: usize = 128 + 64 + 16 + 2;
const _: () = assert!(BYTES == TensorType::Q6_K.block_bytes());

/// Decodes the 256 weights of a block. For each weight, multiply the block's scale by the scale of
/// the weight's group. Then multiply the result by the integer minus 32. Keep this order.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    todo!("week2-day4 task 2: dequantize")
}

/// Encodes a block of 256 finite weights. Every 16 weights get a scale from [`search_scale`]. The
/// sixteen scales share `d` (see [`share_signed`], with 8 bits). Compute each weight's integer from
/// its scale **as it is stored**, and round to nearest (see [`code`]).
#[must_use]
pub fn quantize(x: &[f32; 256]) -> [u8; BYTES] {
    todo!("week2-day4 task 2: quantize")
}
