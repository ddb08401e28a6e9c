//! `Q4_K`: two codes in a byte, scales and minimums in six bits.

use std::arch::x86_64::*;

use super::lanes::load;
use crate::blocks::six_bits;

/// Eight scales as i16, in both halves of a register, and eight minimums as i16, each twice: a
/// minimum meets two sums of 16.
#[inline]
#[target_feature(enable = "avx2")]
pub fn scales_and_mins(packed: &[u8; 12]) -> (__m256i, __m256i) {
    let (scales, mins) = six_bits::unpack(packed);
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
