//! Quantizes activations to int8, 32 at a time.

use std::arch::x86_64::*;

use super::lanes::load_floats;
use crate::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    int8::{self, each_super_block},
};

/// Quantizes the row `x` into `super_blocks`, with the same result as the course's scalar function.
#[target_feature(enable = "avx2")]
pub(crate) fn quantize_activations(
    x: &[f32],
    per_scale: usize,
    super_blocks: &mut [Int8SuperBlock],
) {
    each_super_block(x, super_blocks, |x, super_block| quantize(x, per_scale, super_block));
}

#[inline]
#[target_feature(enable = "avx2")]
fn quantize(x: &[f32; SUPER_BLOCK], per_scale: usize, super_block: &mut Int8SuperBlock) {
    let blocks: &[[f32; BLOCK]; SUPER_BLOCK / BLOCK] =
        x.as_chunks().0.try_into().expect("a super-block");
    let mut absmax = blocks.map(|x| largest(&x));
    if per_scale == SUPER_BLOCK {
        absmax = [int8::largest(absmax); SUPER_BLOCK / BLOCK];
    }
    let (values, sums) = (
        super_block.values.as_chunks_mut::<BLOCK>().0,
        super_block.sums.as_chunks_mut::<{ BLOCK / SUM }>().0,
    );
    for (b, ((x, values), sums)) in blocks.iter().zip(values).zip(sums).enumerate() {
        super_block.scales[b] = int8::scale(absmax[b]);
        let inverse = _mm256_set1_ps(if absmax[b] > 0.0 { 127.0 / absmax[b] } else { 0.0 });
        let x: &[[f32; 8]] = x.as_chunks().0;
        // The conversion rounds to nearest, ties to even. Narrowing interleaves the halves of two
        // registers. The order is restored at the end.
        let eight = |i: usize| _mm256_cvtps_epi32(_mm256_mul_ps(load_floats(&x[i]), inverse));
        let bytes = _mm256_packs_epi16(
            _mm256_packs_epi32(eight(0), eight(1)),
            _mm256_packs_epi32(eight(2), eight(3)),
        );
        let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        // SAFETY: the store writes 32 values of one byte, and requires no alignment.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), bytes) };
        // Sums of eight unsigned bytes. Each byte is too large by 128.
        let eights = _mm256_sad_epu8(
            _mm256_xor_si256(bytes, _mm256_set1_epi8(-128)),
            _mm256_setzero_si256(),
        );
        let sixteens = _mm256_add_epi64(eights, _mm256_unpackhi_epi64(eights, eights));
        let too_much = 128 * SUM as i64;
        sums[0] = (_mm256_extract_epi64::<0>(sixteens) - too_much) as i16;
        sums[1] = (_mm256_extract_epi64::<2>(sixteens) - too_much) as i16;
    }
}

/// Returns the largest magnitude, or NaN if any element is NaN.
#[inline]
#[target_feature(enable = "avx2")]
fn largest(x: &[f32; BLOCK]) -> f32 {
    // The magnitudes are compared as integers, because a maximum of floats would ignore a NaN.
    let mut largest = _mm256_setzero_si256();
    for x in x.as_chunks().0 {
        let magnitudes = _mm256_andnot_ps(_mm256_set1_ps(-0.0), load_floats(x));
        largest = _mm256_max_epi32(largest, _mm256_castps_si256(magnitudes));
    }
    let mut lanes = [0.0f32; 8];
    // SAFETY: the store writes eight numbers of four bytes, and requires no alignment.
    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), _mm256_castsi256_ps(largest)) };
    int8::largest(lanes)
}
