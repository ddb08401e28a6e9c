//! Unpacks the scales of blocks of 32 one-byte weights (`Q8_0`), for four rows side by side.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights::{Eights, floats},
    lanes::{load64, part, sixteen_bits},
};
use crate::streams::STREAMS;

/// Size of a block in bytes.
pub(super) const BYTES: usize = TensorType::Q8_0.block_bytes();
/// Size of eight blocks in bytes.
pub(super) const EIGHT: usize = 8 * BYTES;

/// Index of each scale's 16-bit word within the two source registers. The scales of the same block
/// in the four rows are adjacent, see [`scales`].
const SCALES: [i16; 32] = {
    let (mut words, mut i) = ([0; 32], 0);
    while i < 32 {
        let (block, row) = (i / STREAMS, i % STREAMS);
        let number = 4 * (block / 2) + 2 * (block % 2) + row % 2;
        words[i] = (32 * (row / 2) + 2 * number + block % 2) as i16;
        i += 1;
    }
    words
};

/// Returns the scales of eight blocks of each row.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(super) fn scales(rows: [&[u8; EIGHT]; STREAMS]) -> Eights<__m512> {
    // In the 64 bytes that begin at an even block, its scale is in the lower half of 32-bit number
    // 0, and the next block's scale is in the upper half of number 8.
    let two = |s: usize, v: usize| load64(part(rows[s], 2 * v * BYTES));
    let index = _mm512_setr_epi32(0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24);
    let of_both = |s: usize, v: usize| _mm512_permutex2var_epi32(two(s, v), index, two(s + 1, v));
    // Each lane has two blocks: first the even block of rows s and s + 1, then the odd block.
    let of_all = |s: usize| {
        let first = _mm512_mask_blend_epi32(0x00f0, of_both(s, 0), of_both(s, 1));
        let second = _mm512_mask_blend_epi32(0xf000, of_both(s, 2), of_both(s, 3));
        _mm512_mask_blend_epi32(0xff00, first, second)
    };
    floats(_mm512_permutex2var_epi16(of_all(0), sixteen_bits(&SCALES), of_all(2)))
}
