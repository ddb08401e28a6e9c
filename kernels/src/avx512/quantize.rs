//! Quantizes activations to int8, 16 at a time.

use std::arch::x86_64::*;

use crate::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    int8::{self, each_super_block},
};

/// Quantizes the row `x` into `super_blocks`, with the same result as the course's scalar function.
///
/// # Safety
/// The machine must have the instructions of
/// [`Rung::Avx512Vnni`](crate::rung::Rung::Avx512Vnni).
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(crate) fn quantize_activations(
    x: &[f32],
    per_scale: usize,
    super_blocks: &mut [Int8SuperBlock],
) {
    each_super_block(x, super_blocks, |x, super_block| quantize(x, per_scale, super_block));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn quantize(x: &[f32; SUPER_BLOCK], per_scale: usize, super_block: &mut Int8SuperBlock) {
    let mut absmax = largest(x);
    if per_scale == SUPER_BLOCK {
        absmax = [int8::largest(absmax); SUPER_BLOCK / BLOCK];
    }
    super_block.scales = absmax.map(int8::scale);
    let inverse = absmax.map(|absmax| if absmax > 0.0 { 127.0 / absmax } else { 0.0 });
    let (values, sums) =
        (super_block.values.as_chunks_mut::<64>().0, super_block.sums.as_chunks_mut::<4>().0);
    for (c, (values, sums)) in values.iter_mut().zip(sums).enumerate() {
        // Conversion rounds to nearest, ties to even.
        let sixteen = |i: usize| {
            let inverse = _mm512_set1_ps(inverse[2 * c + i / 2]);
            _mm512_cvtps_epi32(_mm512_mul_ps(load(x, 4 * c + i), inverse))
        };
        // Each quarter of the register has four values of each of the four groups.
        let quarters = _mm512_packs_epi16(
            _mm512_packs_epi32(sixteen(0), sixteen(1)),
            _mm512_packs_epi32(sixteen(2), sixteen(3)),
        );
        let fours = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), quarters);
        let eights =
            _mm256_add_epi32(_mm512_castsi512_si256(fours), _mm512_extracti64x4_epi64::<1>(fours));
        let sixteens =
            _mm_add_epi32(_mm256_castsi256_si128(eights), _mm256_extracti128_si256::<1>(eights));
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        // SAFETY: the stores write 64 values of 8 bits and 4 sums of 16 bits.
        unsafe {
            _mm512_storeu_si512(
                values.as_mut_ptr().cast(),
                _mm512_permutexvar_epi32(order, quarters),
            );
            _mm_storel_epi64(sums.as_mut_ptr().cast(), _mm_packs_epi32(sixteens, sixteens));
        }
    }
}

/// Returns the largest magnitude of every [`BLOCK`] values, or NaN for a block that contains NaN.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn largest(x: &[f32; SUPER_BLOCK]) -> [f32; SUPER_BLOCK / BLOCK] {
    // The magnitudes are compared as integers, because a maximum of floats would ignore a NaN.
    let block = |b: usize| {
        let magnitudes = |i| _mm512_castps_si512(_mm512_abs_ps(load(x, i)));
        _mm512_max_epi32(magnitudes(2 * b), magnitudes(2 * b + 1))
    };
    // Two blocks share a register, then four, then all eight.
    let two = |b| {
        let (a, b) = (block(b), block(b + 1));
        _mm512_max_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b))
    };
    let four = |b| {
        let (a, b) = (two(b), two(b + 2));
        _mm512_max_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b))
    };
    let (a, b) = (four(0), four(4));
    let halves = _mm512_max_epi32(
        _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b),
        _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b),
    );
    let all = _mm512_max_epi32(
        _mm512_shuffle_i64x2::<0b10_00_10_00>(halves, halves),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(halves, halves),
    );
    let mut largest = [0.0; SUPER_BLOCK / BLOCK];
    // SAFETY: the store writes eight numbers of 32 bits.
    unsafe {
        _mm256_storeu_si256(largest.as_mut_ptr().cast(), _mm512_castsi512_si256(all));
    }
    largest
}

/// Loads values 16i to 16i + 15.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(x: &[f32; SUPER_BLOCK], i: usize) -> __m512 {
    // SAFETY: the load reads 64 bytes, which is 16 numbers of 32 bits.
    unsafe { _mm512_loadu_ps(x[i * SUM..][..SUM].as_ptr()) }
}
