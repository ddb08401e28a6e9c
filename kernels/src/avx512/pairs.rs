//! Eight blocks of 32 columns of four rows of weights side by side, added one after the other: see
//! [`fours`](super::fours).

use std::{arch::x86_64::*, hint::black_box};

use super::lanes::part;
use crate::streams::STREAMS;

/// Eight blocks of 32 columns of four rows: in lane `l` (128 bits) one number of each row, of block
/// 2l in the first vector, of block 2l + 1 in the second.
pub(super) type Pairs<T> = [T; 2];

/// Two numbers for each block, even ones and odd ones of neighbouring rows: see [`Pairs`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn in_pairs([a, b]: [__m512; 2]) -> Pairs<__m512> {
    [_mm512_shuffle_ps::<0b10_00_10_00>(a, b), _mm512_shuffle_ps::<0b11_01_11_01>(a, b)]
}

/// Numbers of eight blocks, each twice, of four rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn pairs_of_twice([a, b, c, d]: [__m512; STREAMS]) -> Pairs<__m512> {
    let first = |a, b| _mm512_shuffle_ps::<0b10_00_10_00>(a, b);
    in_pairs([first(a, b), first(c, d)])
}

/// Sums of eight blocks, each in two parts, of four rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn pairs_of_halves([a, b, c, d]: [__m512i; STREAMS]) -> Pairs<__m512i> {
    let two = |a, b| {
        let [even, odd] = in_pairs([_mm512_castsi512_ps(a), _mm512_castsi512_ps(b)]);
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(even), _mm512_castps_si512(odd)))
    };
    let [even, odd] = in_pairs([two(a, b), two(c, d)]);
    [_mm512_castps_si512(even), _mm512_castps_si512(odd)]
}

/// The numbers of a super-block that belong to blocks, for each row the same: `numbers` has those
/// of block `b` at `2b`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn same_for_all(numbers: __m512) -> Pairs<__m512> {
    let even = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    let odd = _mm512_add_epi32(even, _mm512_set1_epi32(2));
    [_mm512_permutexvar_ps(even, numbers), _mm512_permutexvar_ps(odd, numbers)]
}

/// Adds eight blocks of each row to its sum, one after the other; `minimums` are those of the
/// weights, and what they are multiplied with.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_pairs(
    sum: __m128,
    products: Pairs<__m512i>,
    x_scales: Pairs<__m512>,
    scales: Pairs<__m512>,
    minimums: Option<(Pairs<__m512>, Pairs<__m512>)>,
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
struct InOrder(Pairs<[f32; 16]>);

impl InOrder {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(numbers: Pairs<__m512>) -> Self {
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
        let four: &[f32; STREAMS] = part(&self.0[block % 2], block / 2 * STREAMS);
        // SAFETY: four numbers of 32 bits are 16 bytes.
        unsafe { _mm_loadu_ps(four.as_ptr()) }
    }
}
