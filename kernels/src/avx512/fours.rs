//! Sums of four rows of weights side by side: what few rows of activations end in.
//!
//! **One order of additions.** An output must not depend on how many rows of activations there are,
//! to the last bit, so few and many ([`product`](super::product)) add in one order. Integers are
//! exact in any order: whatever shares a scale is added up as integers, across lanes too. Then:
//!
//! - Blocks of 32 are added one after the other, as they stand in the row, each with one rounding:
//!   `sum = sum + (x_scale · products) · d`, and where there are minimums, `sum = sum + min · total`
//!   ([`add_pairs`]).
//! - Of a block of 256 a sum of integers may need more bits than a float has. It comes in four
//!   parts, each rounded once, `(L0 + L1) + (L2 + L3)` ([`total`]); the scales of the block and of
//!   the activations follow ([`add_block`]).

use std::arch::x86_64::*;

use super::lanes::part;
use crate::streams::STREAMS;

/// Eight blocks of 32 columns of four rows: in lane `l` (128 bits) one number of each row, of block
/// 2l in the first vector, of block 2l + 1 in the second.
pub(super) type Pairs<T> = [T; 2];

/// Adds integers within lanes: lane `l` of the result has the sums of lane `l` of each row.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_lanes(v: [__m512i; STREAMS]) -> __m512i {
    let add = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    add(add(v[0], v[2]), add(v[1], v[3]))
}

/// The sums of rows that have eight numbers each.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_eights(v: [__m256i; STREAMS]) -> __m128i {
    let add = |a, b| _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let lanes = add(add(v[0], v[2]), add(v[1], v[3]));
    _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes))
}

/// The sums of a block of 256 of each row, rounded part by part.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn total(products: [__m512i; STREAMS]) -> __m128 {
    let parts = _mm512_cvtepi32_ps(add_lanes(products));
    let twos = _mm512_add_ps(parts, _mm512_shuffle_f32x4::<0b10_11_00_01>(parts, parts));
    let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(twos)));
    _mm_add_ps(_mm512_castps512_ps128(twos), _mm256_castps256_ps128(upper))
}

/// Adds a block of 256 of each row to its sum: `sum + (d · total − dmin · minimums) · x_scale`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_block(
    sum: __m128,
    [d, dmin]: [__m128; 2],
    total: __m128,
    minimums: Option<__m128i>,
    x_scale: f32,
) -> __m128 {
    let mut scaled = _mm_mul_ps(d, total);
    if let Some(minimums) = minimums {
        scaled = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(minimums), scaled);
    }
    _mm_fmadd_ps(scaled, _mm_set1_ps(x_scale), sum)
}

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

/// The numbers of a group that belong to blocks, for each row the same: `numbers` has those of block
/// `b` at `2b`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn same_for_all(numbers: __m512) -> Pairs<__m512> {
    let even = _mm512_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    let odd = _mm512_add_epi32(even, _mm512_set1_epi32(2));
    [_mm512_permutexvar_ps(even, numbers), _mm512_permutexvar_ps(odd, numbers)]
}

/// Adds eight blocks of each row to its sum, one after the other; `minimums` are those of the weights, and what they are
/// multiplied with.
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
    let (products, scales) = (InOrder::of([scaled(0), scaled(1)]), InOrder::of(scales));
    let minimums = minimums.map(|pair| (InOrder::of(pair.0), InOrder::of(pair.1)));
    let mut sum = sum;
    for block in 0..8 {
        sum = _mm_fmadd_ps(products.at(block), scales.at(block), sum);
        if let Some((minimums, totals)) = &minimums {
            sum = _mm_fmadd_ps(minimums.at(block), totals.at(block), sum);
        }
    }
    sum
}

/// Numbers of eight blocks, four of each.
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

/// The sums of four rows.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn stored(sums: __m128) -> [f32; STREAMS] {
    let mut out = [0.0; STREAMS];
    // SAFETY: four numbers of 32 bits are 16 bytes.
    unsafe { _mm_storeu_ps(out.as_mut_ptr(), sums) };
    out
}
