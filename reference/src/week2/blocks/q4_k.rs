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
    // SOLUTION week2-day4 task 1
    let mut scales = [0; 8];
    let mut minimums = [0; 8];
    for j in 0..4 {
        scales[j] = packed[j] & 63;
        minimums[j] = packed[j + 4] & 63;
        scales[j + 4] = packed[j + 8] & 15 | packed[j] >> 6 << 4;
        minimums[j + 4] = packed[j + 8] >> 4 | packed[j + 4] >> 6 << 4;
    }
    (scales, minimums)
    // END SOLUTION
}

/// Decodes the 256 weights of a block. For each weight, first multiply `d · scale` by the integer.
/// Then subtract `dmin · minimum`.
pub fn dequantize(block: &[u8; BYTES], out: &mut [f32; 256]) {
    // SOLUTION week2-day4 task 1
    let (d, dmin) = (f16_at(block, 0), f16_at(block, 2));
    let (scales, minimums) = scales_and_minimums(block[4..16].try_into().expect("12 bytes"));
    for (j, out) in out.chunks_exact_mut(32).enumerate() {
        let scale = d * f32::from(scales[j]);
        let minimum = dmin * f32::from(minimums[j]);
        let bytes = &block[16 + j / 2 * 32..][..32];
        for (x, byte) in out.iter_mut().zip(bytes) {
            *x = scale * f32::from(byte >> (j % 2 * 4) & 15) - minimum;
        }
    }
    // END SOLUTION
}

/// Packs 8 scales and 8 minimums, all below 64. This is the inverse of [`scales_and_minimums`].
#[must_use]
pub fn pack_scales_and_minimums(scales: &[u8; 8], minimums: &[u8; 8]) -> [u8; 12] {
    // SOLUTION week2-day4 task 4
    let mut packed = [0; 12];
    for j in 0..4 {
        packed[j] = scales[j] | scales[j + 4] >> 4 << 6;
        packed[j + 4] = minimums[j] | minimums[j + 4] >> 4 << 6;
        packed[j + 8] = scales[j + 4] & 15 | (minimums[j + 4] & 15) << 4;
    }
    packed
    // END SOLUTION
}

/// Encodes a block of 256 finite weights. Every 32 weights get a scale and a minimum from
/// [`search_scale_and_min`]. The eight scales share `d`, and the eight minimums share `dmin` (see
/// [`share`], with 6 bits). Compute each weight's integer from the scale and the minimum **as they
/// are stored**, and round to nearest.
#[must_use]
pub fn quantize(x: &[f32; 256]) -> [u8; BYTES] {
    // SOLUTION week2-day4 task 4
    let groups = x.as_chunks::<32>().0;
    let found: [_; 8] = from_fn(|j| search_scale_and_min(&groups[j], 15));
    let (d, scales) = share(found.map(|group| group.scale), 63);
    let (dmin, minimums) = share(found.map(|group| group.min), 63);
    let mut block = [0; BYTES];
    put_f16(&mut block, 0, d);
    put_f16(&mut block, 2, dmin);
    block[4..16].copy_from_slice(&pack_scales_and_minimums(&scales, &minimums));
    for (j, group) in groups.iter().enumerate() {
        let (scale, minimum) = (d * f32::from(scales[j]), dmin * f32::from(minimums[j]));
        let bytes = &mut block[16 + j / 2 * 32..][..32];
        for (byte, x) in bytes.iter_mut().zip(group) {
            *byte |= (code(x + minimum, scale, 0.0, 15.0) as u8) << (j % 2 * 4);
        }
    }
    block
    // END SOLUTION
}
