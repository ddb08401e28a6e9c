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
    // SOLUTION week2-day4 task 2
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let d = f16_at(rest, 16);
    for (i, x) in out.iter_mut().enumerate() {
        let (half, i_in_half) = (i / 128, i % 128);
        let four = low[half * 64 + i_in_half % 64] >> (i_in_half / 64 * 4) & 15;
        let two = high[half * 32 + i_in_half % 32] >> (i_in_half / 32 * 2) & 3;
        let scale = d * f32::from(rest[i / 16] as i8);
        *x = scale * (f32::from(four | two << 4) - 32.0);
    }
    // END SOLUTION
}

/// Encodes a block of 256 finite weights. Every 16 weights get a scale from [`search_scale`]. The
/// sixteen scales share `d` (see [`share_signed`], with 8 bits). Compute each weight's integer from
/// its scale **as it is stored**, and round to nearest (see [`code`]).
#[must_use]
pub fn quantize(x: &[f32; 256]) -> [u8; BYTES] {
    // SOLUTION week2-day4 task 2
    let groups = x.as_chunks::<16>().0;
    let (d, scales) = share_signed::<16>(from_fn(|j| search_scale(&groups[j], 32)), 128);
    let mut block = [0; BYTES];
    for (i, x) in x.iter().enumerate() {
        let q = (code(*x, d * f32::from(scales[i / 16]), -32.0, 31.0) + 32.0) as u8;
        let (half, i_in_half) = (i / 128, i % 128);
        block[half * 64 + i_in_half % 64] |= (q & 15) << (i_in_half / 64 * 4);
        block[128 + half * 32 + i_in_half % 32] |= q >> 4 << (i_in_half / 32 * 2);
    }
    for (byte, scale) in block[192..208].iter_mut().zip(scales) {
        *byte = scale as u8;
    }
    put_f16(&mut block, 208, d);
    block
    // END SOLUTION
}
