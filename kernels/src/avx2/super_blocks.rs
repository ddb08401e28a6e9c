//! Products of blocks of 256 weights with integer scales and a few rows of activations. The
//! instruction that adds pairs of products also multiplies them by a scale.

use std::arch::x86_64::*;

use super::lanes::{load_signed, load_sums};
use crate::{
    format::{Format, Zero},
    input::Int8SuperBlock,
};

/// Everything in a block except its codes. A weight is `d · scale · code − dmin · minimum`, or in a
/// format with an offset `d · scale · (code − offset)`.
pub(super) struct Head {
    /// Scales of 16 bits, one for every 16 weights. A scale that 32 weights share is stored twice.
    pub(super) scales: __m256i,
    /// Minimums, in the same layout as `scales`. Unused in a format with an offset.
    pub(super) minimums: __m256i,
    /// The factor by which scales are multiplied, on all lanes.
    pub(super) d: __m256,
    /// The factor by which minimums are multiplied, on all lanes. Unused in a format with an
    /// offset.
    pub(super) dmin: __m256,
}

/// Multiplies a block by a super-block of activations and by the scales of both, and adds the
/// result to the first lane of `sum`. Products are added as integers and rounded once, so their
/// order doesn't matter. `codes(half)` must return the 128 codes of the block's first half (0) or
/// second half (1).
///
/// The sum of two products is at most 2 · 63 · 127, which fits in i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot<F: Format>(
    head: Head,
    codes: impl Fn(usize) -> [__m256i; 4],
    x: &Int8SuperBlock,
    sum: __m128,
) -> __m128 {
    // The even scales go to the lower half of a register, and the odd ones to the upper half:
    // that's where the two halves of 32 products need them.
    let even = _mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(head.scales));
    let odd = _mm256_srai_epi32::<16>(head.scales);
    let both = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(even, odd));
    let p: &[[i8; 32]] = x.values.as_chunks().0;
    let mut acc = _mm256_setzero_si256();
    for half in 0..2 {
        for (quarter, codes) in codes(half).into_iter().enumerate() {
            let j = half * 4 + quarter;
            let pairs = _mm256_maddubs_epi16(codes, load_signed(&p[j]));
            let number = _mm256_set1_epi16((2 * j + ((2 * j + 1) << 8)) as i16);
            let scale = _mm256_shuffle_epi8(both, number);
            acc = _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, scale));
        }
    }
    let (minimums, factor, dmin) = match F::ZERO {
        Zero::Offset(offset) => (head.scales, i32::from(offset), head.d),
        Zero::Minimum => (head.minimums, 1, head.dmin),
    };
    let shift = _mm256_madd_epi16(minimums, load_sums(&x.sums));
    let both = _mm256_hadd_epi32(acc, shift);
    let both = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256::<1>(both));
    let both = _mm_add_epi32(both, _mm_shuffle_epi32::<0b10_11_00_01>(both));
    let shift = _mm_unpackhi_epi64(both, both);
    let shift = if factor == 1 { shift } else { _mm_mullo_epi32(shift, _mm_set1_epi32(factor)) };
    let low = |v: __m256| _mm256_castps256_ps128(v);
    let scaled = _mm_mul_ss(low(head.d), _mm_cvtepi32_ps(both));
    let products = _mm_fnmadd_ss(low(dmin), _mm_cvtepi32_ps(shift), scaled);
    _mm_fmadd_ss(_mm_set_ss(x.scales[0]), products, sum)
}
