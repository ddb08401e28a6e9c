//! Against the integer rung: 64 codes a load, and a scale multiplies 32 products in the instruction
//! that adds up pairs.

use std::arch::x86_64::*;

use super::lanes::{halves, load, load_signed, load_sums};
use crate::week2::input::Int8Group;

/// The products of a block with a group, in eight lanes that are still to be added up. The
/// activations' scale is not among them: the caller multiplies by it.
///
/// A pair of products is at most 2 · 15 · 127, and 8 sub-blocks of scales up to 63 stay far within
/// i32.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(block: &[u8; 144], x: &Int8Group) -> __m256 {
    todo!("week2-day6 task 2: dot")
}

/// Eight scales as i16, in both halves of a register, and eight minimums as i16, each twice: a
/// minimum meets two sums of 16.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scales_and_mins(packed: &[u8; 12]) -> (__m256i, __m256i) {
    let word =
        |i: usize| u32::from_le_bytes([packed[i], packed[i + 1], packed[i + 2], packed[i + 3]]);
    let (a, m, low) = (word(0), word(4), word(8));
    let (six, four, two) = (0x3f3f_3f3f, 0x0f0f_0f0f, 0x0303_0303);
    let scales = u64::from(a & six) | u64::from(low & four | (a >> 6 & two) << 4) << 32;
    let mins = u64::from(m & six) | u64::from(low >> 4 & four | (m >> 6 & two) << 4) << 32;
    let scales = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(scales as i64));
    let mins = _mm_cvtsi64_si128(mins as i64);
    (_mm256_broadcastsi128_si256(scales), _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(mins, mins)))
}

/// 32 codes of a block, 0…15: the low or the high halves of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 144], chunk: usize) -> __m256i {
    let bytes: &[[u8; 32]] = block[16..].as_chunks().0;
    let both = load(&bytes[chunk / 2]);
    let half = if chunk.is_multiple_of(2) { both } else { _mm256_srli_epi16::<4>(both) };
    _mm256_and_si256(half, _mm256_set1_epi8(15))
}
