//! Numbers that belong to eight blocks of 32 columns, for four rows of weights side by side.
//! [`fours`](super::fours) describes the order of additions.

use std::arch::x86_64::*;

use crate::input::Int8SuperBlock;

/// One number per row and block, for four rows and eight blocks of 32 columns. Lane `l` (128 bits)
/// has one number for each row: the number of block `l` in the first vector, and of block `4 + l`
/// in the second.
pub(super) type Eights<T> = [T; 2];

/// Copies the number of each of eight blocks to all four rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn same_for_all(numbers: __m256) -> Eights<__m512> {
    let numbers = _mm512_castps256_ps512(numbers);
    let first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let second = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    [_mm512_permutexvar_ps(first, numbers), _mm512_permutexvar_ps(second, numbers)]
}

/// Converts half-precision numbers to f32: four for each of eight blocks, block after block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn floats(halves: __m512i) -> Eights<__m512> {
    [
        _mm512_cvtph_ps(_mm512_castsi512_si256(halves)),
        _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(halves)),
    ]
}

/// Returns the scales of a super-block of activations.
#[inline]
#[target_feature(enable = "avx512vl")]
pub(super) fn scales(x: &Int8SuperBlock) -> __m256 {
    // SAFETY: the load reads 32 bytes, which is 8 numbers of 32 bits.
    unsafe { _mm256_loadu_ps(x.scales.as_ptr()) }
}

/// Returns the sums of a super-block of activations, two for each block, widened to 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn sums(x: &Int8SuperBlock) -> __m512i {
    // SAFETY: the load reads 32 bytes, which is 16 numbers of 16 bits.
    _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) })
}

/// Returns the activations moved `places` blocks to the right, with zeros before them.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn later(x: &Int8SuperBlock, places: usize) -> Int8SuperBlock {
    let mut later = Int8SuperBlock::default();
    // SAFETY: numbers whose mask bit is 0 are not read; the others are in `x`.
    unsafe {
        for v in 0..4 {
            // One bit per number, so 32 bits for each block.
            let before = (32 * places).saturating_sub(64 * v);
            let there = u64::MAX.checked_shl(before as u32).unwrap_or(0);
            let from = x.values.as_ptr().wrapping_add(64 * v).wrapping_sub(32 * places);
            let values = _mm512_maskz_loadu_epi8(there, from);
            _mm512_storeu_si512(later.values[64 * v..].as_mut_ptr().cast(), values);
        }
        let from = x.scales.as_ptr().wrapping_sub(places);
        let scales = _mm256_maskz_loadu_ps(u8::MAX << places, from);
        _mm256_storeu_ps(later.scales.as_mut_ptr(), scales);
        let from = x.sums.as_ptr().wrapping_sub(2 * places);
        let sums = _mm256_maskz_loadu_epi16(u16::MAX << (2 * places), from);
        _mm256_storeu_si256(later.sums.as_mut_ptr().cast(), sums);
    }
    later
}

/// Scales the products of eight blocks of each row, and adds them to the row's sum. `minimums` are
/// the minimums of the weights, and the scaled sums of activations by which they are multiplied.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_eight(
    sum: __m128,
    products: Eights<__m512i>,
    x_scales: Eights<__m512>,
    scales: Eights<__m512>,
    minimums: Option<(Eights<__m512>, Eights<__m512>)>,
) -> __m128 {
    let mut pairs = _mm512_setzero_ps();
    for i in 0..2 {
        let scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(products[i]), x_scales[i]);
        pairs = _mm512_fmadd_ps(scaled, scales[i], pairs);
        if let Some((minimums, totals)) = minimums {
            pairs = _mm512_fmadd_ps(minimums[i], totals[i], pairs);
        }
    }
    let upper = |v| _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(v)));
    let fours = _mm256_add_ps(_mm512_castps512_ps256(pairs), upper(pairs));
    let eight = _mm_add_ps(_mm256_castps256_ps128(fours), _mm256_extractf128_ps::<1>(fours));
    _mm_add_ps(sum, eight)
}
