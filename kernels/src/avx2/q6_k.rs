//! Against Q4_K: codes come from two places, and a scale belongs to 16 weights, half a register.

use std::arch::x86_64::*;

use super::lanes::{halves, load, load_half, load_signed, load_sums};
use crate::input::Int8Group;

/// The products of a block with a group, but for the activations' scale, in eight lanes that are
/// still to be added up.
///
/// A pair of products is at most 2 · 63 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(block: &[u8; 210], x: &Int8Group) -> __m256 {
    let scales = load_half(block[192..208].try_into().expect("16 scales"));
    // The even scales in the lower half of a register, the odd ones in the upper: what two halves
    // of 32 products need.
    let (even, odd) =
        (_mm_srai_epi16::<8>(_mm_slli_epi16::<8>(scales)), _mm_srai_epi16::<8>(scales));
    let both = _mm256_set_m128i(odd, even);
    let p: &[[i8; 32]] = x.values.as_chunks().0;
    let mut acc = _mm256_setzero_si256();
    for half in 0..2 {
        for (quarter, codes) in codes(block, half).into_iter().enumerate() {
            let j = half * 4 + quarter;
            let pairs = _mm256_maddubs_epi16(codes, load_signed(&p[j]));
            let scale =
                _mm256_shuffle_epi8(both, _mm256_set1_epi16((2 * j + ((2 * j + 1) << 8)) as i16));
            acc = _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, scale));
        }
    }
    // All codes are 32 too much.
    let offset = _mm256_madd_epi16(_mm256_cvtepi8_epi16(scales), load_sums(&x.sums));
    acc = _mm256_sub_epi32(acc, _mm256_slli_epi32::<5>(offset));
    _mm256_mul_ps(halves([block[208], block[209]]), _mm256_cvtepi32_ps(acc))
}

/// 128 codes of a block, 0…63: the first or the second half.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes(block: &[u8; 210], half: usize) -> [__m256i; 4] {
    let bytes: &[[u8; 32]] = block[..192].as_chunks().0;
    let (first, second, upper) =
        (load(&bytes[2 * half]), load(&bytes[2 * half + 1]), load(&bytes[4 + half]));
    let four = _mm256_set1_epi8(15);
    let two = _mm256_set1_epi8(0x30);
    let code = |low: __m256i, upper: __m256i| {
        _mm256_or_si256(_mm256_and_si256(low, four), _mm256_and_si256(upper, two))
    };
    [
        code(first, _mm256_slli_epi16::<4>(upper)),
        code(second, _mm256_slli_epi16::<2>(upper)),
        code(_mm256_srli_epi16::<4>(first), upper),
        code(_mm256_srli_epi16::<4>(second), _mm256_srli_epi16::<2>(upper)),
    ]
}
