//! Quantizes activations to int8, 16 at a time.

use std::arch::x86_64::*;

use crate::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    int8::{self, each_super_block},
};

/// Quantizes one row, with the same result as the course's scalar function.
///
/// # Safety
/// The machine must have the instructions of
/// [`Rung::Avx512Vnni`](crate::rung::Rung::Avx512Vnni).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn quantize_activations(
    x: &[f32],
    per_scale: usize,
    super_blocks: &mut [Int8SuperBlock],
) {
    each_super_block(x, super_blocks, |x, super_block| quantize(x, per_scale, super_block));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn quantize(x: &[f32; SUPER_BLOCK], per_scale: usize, super_block: &mut Int8SuperBlock) {
    let mut absmax = [0f32; SUPER_BLOCK / BLOCK];
    for (b, absmax) in absmax.iter_mut().enumerate() {
        // The magnitudes are compared as integers, because a maximum of floats would ignore a NaN.
        let magnitudes = |i| _mm512_castps_si512(_mm512_abs_ps(load(x, i)));
        let largest = _mm512_max_epi32(magnitudes(2 * b), magnitudes(2 * b + 1));
        *absmax = f32::from_bits(_mm512_reduce_max_epi32(largest) as u32);
    }
    if per_scale == SUPER_BLOCK {
        absmax = [int8::largest(absmax); SUPER_BLOCK / BLOCK];
    }
    for b in 0..SUPER_BLOCK / BLOCK {
        super_block.scales[b] = int8::scale(absmax[b]);
        let inverse = _mm512_set1_ps(if absmax[b] > 0.0 { 127.0 / absmax[b] } else { 0.0 });
        for i in 2 * b..2 * b + 2 {
            // Conversion rounds to nearest, ties to even.
            let values = _mm512_cvtps_epi32(_mm512_mul_ps(load(x, i), inverse));
            // SAFETY: the store writes 16 bytes, which is 16 values of 8 bits.
            unsafe {
                _mm_storeu_si128(
                    super_block.values[i * SUM..][..SUM].as_mut_ptr().cast(),
                    _mm512_cvtepi32_epi8(values),
                );
            };
            super_block.sums[i] = _mm512_reduce_add_epi32(values) as i16;
        }
    }
}

/// Loads values 16i to 16i + 15.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(x: &[f32; SUPER_BLOCK], i: usize) -> __m512 {
    // SAFETY: the load reads 64 bytes, which is 16 numbers of 32 bits.
    unsafe { _mm512_loadu_ps(x[i * SUM..][..SUM].as_ptr()) }
}
