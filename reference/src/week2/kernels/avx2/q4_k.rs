//! Unlike the integer rung (the scalar kernels of day 5), this kernel reads 64 codes with one load.
//! The instruction `maddubs` adds its 32 products in pairs. Then `madd` multiplies these 16 sums by
//! a scale and adds the results in pairs.
//!
//! Tasks here: week2-day6 task 2 (`dot`). Everything else is provided.

use std::arch::x86_64::*;

use tiny_llm_kernels::avx2::{
    lanes::{halves, load, load_signed, load_sums},
    q4_k::scales_and_mins,
};

use crate::week2::input::Int8SuperBlock;

/// Computes the dot product of a block of weights and a super-block of activations. Returns it in
/// eight lanes. The caller multiplies the lanes by the activations' scale and adds them up.
///
/// The sum of two products of codes is at most 2 · 15 · 127, which fits i16. Even with scales up to
/// 63, the sum over 8 sub-blocks easily fits i32.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(block: &[u8; 144], x: &Int8SuperBlock) -> __m256 {
    // SOLUTION week2-day6 task 2
    let (scales, mins) = scales_and_mins(block[4..16].try_into().expect("12 bytes"));
    let (bytes, p) = (block[16..].as_chunks().0, x.values.as_chunks().0);
    let mut acc = _mm256_setzero_si256();
    for j in 0..4 {
        let both = load(&bytes[j]);
        let low = _mm256_and_si256(both, _mm256_set1_epi8(15));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), _mm256_set1_epi8(15));
        let low = _mm256_maddubs_epi16(low, load_signed(&p[2 * j]));
        let high = _mm256_maddubs_epi16(high, load_signed(&p[2 * j + 1]));
        let scale = |i: usize| {
            _mm256_shuffle_epi8(scales, _mm256_set1_epi16((2 * i + ((2 * i + 1) << 8)) as i16))
        };
        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(low, scale(2 * j)));
        acc = _mm256_add_epi32(acc, _mm256_madd_epi16(high, scale(2 * j + 1)));
    }
    let shift = _mm256_madd_epi16(mins, load_sums(&x.sums));
    let scaled = _mm256_mul_ps(halves([block[0], block[1]]), _mm256_cvtepi32_ps(acc));
    _mm256_fnmadd_ps(halves([block[2], block[3]]), _mm256_cvtepi32_ps(shift), scaled)
    // END SOLUTION
}
