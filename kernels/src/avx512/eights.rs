//! Eight blocks of 32 columns of four rows of weights side by side, added one after the other: see
//! [`fours`](super::fours).

use std::{arch::x86_64::*, hint::black_box};

use super::lanes::part;
use crate::{input::Int8SuperBlock, streams::STREAMS};

/// Eight blocks of 32 columns of four rows: in lane `l` (128 bits) one number of each row, of block
/// `l` in the first vector, of block `4 + l` in the second.
pub(super) type Eights<T> = [T; 2];

/// One number for each block: the same for each row.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn same_for_all(numbers: __m256) -> Eights<__m512> {
    let numbers = _mm512_castps256_ps512(numbers);
    let first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let second = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    [_mm512_permutexvar_ps(first, numbers), _mm512_permutexvar_ps(second, numbers)]
}

/// Numbers in half precision: four for each block, block after block.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn floats(halves: __m512i) -> Eights<__m512> {
    [
        _mm512_cvtph_ps(_mm512_castsi512_si256(halves)),
        _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(halves)),
    ]
}

/// What is left of a super-block of activations for blocks that stand so many places later; zeros
/// for those before them. Number `v` has blocks `2v` and `2v + 1`.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn values_later(x: &Int8SuperBlock, places: usize) -> [__m512i; 4] {
    let mut values = [_mm512_setzero_si512(); 4];
    for v in 0..4 {
        // One bit for each number: places of 32.
        let before = (32 * places).saturating_sub(64 * v);
        let there = u64::MAX.checked_shl(before as u32).unwrap_or(0);
        let from = x.values.as_ptr().wrapping_add(64 * v).wrapping_sub(32 * places);
        // SAFETY: numbers that the mask does not name are not read; the others are in `x`.
        values[v] = unsafe { _mm512_maskz_loadu_epi8(there, from) };
    }
    values
}

/// The same of its scales.
#[inline]
#[target_feature(enable = "avx512vl")]
pub(super) fn scales_later(x: &Int8SuperBlock, places: usize) -> __m256 {
    // SAFETY: numbers that the mask does not name are not read; the others are in `x`.
    unsafe { _mm256_maskz_loadu_ps(u8::MAX << places, x.scales.as_ptr().wrapping_sub(places)) }
}

/// The same of its sums, two for each block.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn sums_later(x: &Int8SuperBlock, places: usize) -> __m512i {
    let from = x.sums.as_ptr().wrapping_sub(2 * places);
    // SAFETY: numbers that the mask does not name are not read; the others are in `x`.
    _mm512_cvtepi16_epi32(unsafe { _mm256_maskz_loadu_epi16(u16::MAX << (2 * places), from) })
}

/// Adds eight blocks of each row to its sum, one after the other; `minimums` are those of the
/// weights, and what they are multiplied with.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_in_order(
    sum: __m128,
    products: Eights<__m512i>,
    x_scales: Eights<__m512>,
    scales: Eights<__m512>,
    minimums: Option<(Eights<__m512>, Eights<__m512>)>,
) -> __m128 {
    let scaled = |i: usize| _mm512_mul_ps(_mm512_cvtepi32_ps(products[i]), x_scales[i]);
    let numbers = [InOrder::of([scaled(0), scaled(1)]), InOrder::of(scales)];
    let [products, scales] = black_box(&numbers);
    let mut sum = sum;
    if let Some((minimums, totals)) = minimums {
        let numbers = [InOrder::of(minimums), InOrder::of(totals)];
        let [minimums, totals] = black_box(&numbers);
        for block in 0..8 {
            sum = _mm_fmadd_ps(products.at(block), scales.at(block), sum);
            sum = _mm_fmadd_ps(minimums.at(block), totals.at(block), sum);
        }
    } else {
        for block in 0..8 {
            sum = _mm_fmadd_ps(products.at(block), scales.at(block), sum);
        }
    }
    sum
}

/// Numbers of eight blocks, four of each. They are read back from memory (so `black_box`): taking
/// lanes out of vectors would occupy the unit that does all other shuffling.
#[repr(align(64))]
struct InOrder(Eights<[f32; 16]>);

impl InOrder {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(numbers: Eights<__m512>) -> Self {
        let mut stored = [[0.0; 16]; 2];
        for i in 0..2 {
            // SAFETY: 16 numbers of 32 bits are 64 bytes.
            unsafe { _mm512_storeu_ps(stored[i].as_mut_ptr(), numbers[i]) };
        }
        Self(stored)
    }

    /// Those of a block.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn at(&self, block: usize) -> __m128 {
        let four: &[f32; STREAMS] = part(&self.0[block / 4], block % 4 * STREAMS);
        // SAFETY: four numbers of 32 bits are 16 bytes.
        unsafe { _mm_loadu_ps(four.as_ptr()) }
    }
}
