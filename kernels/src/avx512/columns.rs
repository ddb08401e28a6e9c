//! Eight blocks of 32 columns in four vectors, and activations in the same order.

use std::arch::x86_64::*;

use super::{
    lanes::{scales_of, twice, values_at},
    order::Columns,
    pairs::{Pairs, add_pairs, pairs_of_halves, pairs_of_twice, same_for_all},
    panel::Row,
};
use crate::{
    format::{Format, Zero},
    input::Int8SuperBlock,
    streams::STREAMS,
};

/// Vector `v` holds columns 8v to 8v + 7 of each block.
pub(super) const COLUMNS: Columns = {
    let (mut columns, mut i) = ([0; 64], 0);
    while i < 64 {
        let (v, block, half) = (i / 16, i % 16 / 2, i % 2);
        columns[i] = 8 * block + 2 * v + half;
        i += 1;
    }
    columns
};

/// Eight blocks out of their bytes.
pub(crate) struct Eight {
    /// Unsigned, in the order of [`COLUMNS`].
    pub(crate) codes: [__m512i; 4],
    /// Each block's scale, twice.
    pub(crate) scales: __m512,
    /// The same of its minimum.
    pub(crate) minimums: __m512,
}

impl Eight {
    /// As a [`panel`](super::panel) wants them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn row(self) -> Row {
        Row { codes: self.codes, scales: self.scales, minimums: _mm512_castps_si512(self.minimums) }
    }
}

/// A super-block of activations, and what is the same for all rows of weights.
pub(super) struct Activations {
    /// In the order of [`COLUMNS`].
    values: [__m512i; 4],
    /// What the offset takes off. It matters only for a block as a whole, which has two of these
    /// numbers.
    start: __m512i,
    /// What minimums are multiplied with.
    totals: Pairs<__m512>,
    scales: Pairs<__m512>,
}

impl Activations {
    /// For blocks that stand so many places later; zeros for those before them.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub(super) fn of<F: Format>(x: &Int8SuperBlock, places: usize) -> Self {
        // SAFETY: 16 sums of 16 bits are 32 bytes.
        let mut sums = _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) });
        let (mut values, mut scales) = (in_columns(x), twice(scales_of(x)));
        if places > 0 {
            for v in 0..4 {
                values[v] = later(values[v], places);
            }
            sums = later(sums, places);
            scales = _mm512_castsi512_ps(later(_mm512_castps_si512(scales), places));
        }
        let both = _mm512_add_epi32(sums, _mm512_shuffle_epi32::<0b10_11_00_01>(sums));
        Self {
            values,
            start: match F::ZERO {
                Zero::Offset(offset) => {
                    _mm512_mullo_epi32(sums, _mm512_set1_epi32(-i32::from(offset)))
                }
                Zero::Minimum => _mm512_setzero_si512(),
            },
            totals: same_for_all(_mm512_mul_ps(_mm512_cvtepi32_ps(both), scales)),
            scales: same_for_all(scales),
        }
    }

    /// The products with eight blocks of a row of weights.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    pub(super) fn times(&self, codes: [__m512i; 4]) -> __m512i {
        let mut products = self.start;
        for v in 0..4 {
            products = _mm512_dpbusd_epi32(products, codes[v], self.values[v]);
        }
        products
    }

    /// Adds eight blocks of four rows of weights to `sums`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    pub(super) fn add<F: Format>(
        &self,
        products: [__m512i; STREAMS],
        scales: [__m512; STREAMS],
        minimums: [__m512; STREAMS],
        sums: __m128,
    ) -> __m128 {
        let products = pairs_of_halves(products);
        let minimums = match F::ZERO {
            Zero::Minimum => Some((pairs_of_twice(minimums), self.totals)),
            Zero::Offset(_) => None,
        };
        add_pairs(sums, products, self.scales, pairs_of_twice(scales), minimums)
    }
}

/// Numbers of blocks that stand so many places later; zeros for those before them.
#[inline]
#[target_feature(enable = "avx512f")]
fn later(v: __m512i, places: usize) -> __m512i {
    let from = _mm512_sub_epi64(
        _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
        _mm512_set1_epi64(places as i64),
    );
    _mm512_maskz_permutexvar_epi64(u8::MAX << places, from, v)
}

/// Activations in the order of [`COLUMNS`].
#[inline]
#[target_feature(enable = "avx512bw")]
fn in_columns(x: &Int8SuperBlock) -> [__m512i; 4] {
    let index = |v: i64| _mm512_setr_epi64(v, v + 4, v + 8, v + 12, v + 1, v + 5, v + 9, v + 13);
    let four = |from: usize, v: i64| {
        _mm512_permutex2var_epi64(values_at(x, from), index(v), values_at(x, from + 64))
    };
    let (a, b) = (four(0, 0), four(128, 0));
    let (c, d) = (four(0, 2), four(128, 2));
    let first = |a, b| _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
    let second = |a, b| _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
    [first(a, b), second(a, b), first(c, d), second(c, d)]
}
