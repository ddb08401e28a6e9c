//! Unlike the integer rung (the scalar kernels of day 5), this kernel computes 32 products with one
//! instruction, `maddubs`. One factor of `maddubs` must be unsigned: use |weight|, and move the
//! weight's sign to the activation.
//!
//! Tasks here: week2-day6 task 1 (`dot`). Everything else is provided.

use std::arch::x86_64::*;

use tiny_llm_kernels::avx2::lanes::{halves, load, load_signed};

use crate::week2::input::Int8SuperBlock;

/// Computes the dot product of up to eight blocks of weights and a super-block of activations.
/// Returns it in eight lanes. The caller adds up the lanes. The product includes the scales of the
/// blocks and of the activations. The product is NaN if a block's activations have a scale of NaN.
///
/// The sum of two products of codes is at most 2 · 128 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(blocks: &[[u8; 34]], x: &Int8SuperBlock) -> __m256 {
    // SOLUTION week2-day6 task 1
    let mut acc = _mm256_setzero_ps();
    for ((block, p), &scale) in blocks.iter().zip(x.values.as_chunks().0).zip(&x.scales) {
        let (&[d0, d1], q) = block.split_first_chunk().expect("a scale");
        let q = load(q.try_into().expect("32 codes"));
        let p = _mm256_sign_epi8(load_signed(p), q);
        let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), p);
        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        let scale = _mm256_mul_ps(halves([d0, d1]), _mm256_set1_ps(scale));
        acc = _mm256_fmadd_ps(scale, _mm256_cvtepi32_ps(fours), acc);
    }
    acc
    // END SOLUTION
}
