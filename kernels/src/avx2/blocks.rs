//! Blocks of 32 weights, times few rows of activations.

use std::arch::x86_64::*;

use super::lanes::{halves_at, lane, load_scales, load_signed, load_sums};
use crate::{
    format::{Format, Zero},
    input::Int8Group,
};

/// The products of up to eight blocks with a group, with both their scales, in eight lanes that are
/// still to be added up. `codes` takes 32 codes out of a block.
///
/// A pair of products is at most 2 · 31 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot<F: Format, const BYTES: usize>(
    blocks: &[[u8; BYTES]],
    x: &Int8Group,
    codes: impl Fn(&[u8; BYTES]) -> __m256i,
) -> __m256 {
    let x_scales = load_scales(&x.scales);
    let scales = _mm256_mul_ps(halves_at::<0, BYTES>(blocks), x_scales);
    // Lane b has what an offset or a minimum comes to in block b.
    let times_sums =
        |by: i16| _mm256_cvtepi32_ps(_mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(by)));
    let beside = match F::ZERO {
        Zero::Offset(offset) => _mm256_mul_ps(scales, times_sums(-i16::from(offset))),
        Zero::Minimum => {
            _mm256_mul_ps(_mm256_mul_ps(halves_at::<2, BYTES>(blocks), x_scales), times_sums(1))
        }
    };
    let mut acc = [beside, _mm256_setzero_ps()];
    for (b, (block, p)) in blocks.iter().zip(x.values.as_chunks().0).enumerate() {
        let pairs = _mm256_maddubs_epi16(codes(block), load_signed(p));
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        acc[b % 2] = _mm256_fmadd_ps(lane(scales, b), _mm256_cvtepi32_ps(fours), acc[b % 2]);
    }
    _mm256_add_ps(acc[0], acc[1])
}
