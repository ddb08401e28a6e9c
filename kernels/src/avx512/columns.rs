//! Eight blocks of 32 columns in four vectors, and activations in the same order.

use std::arch::x86_64::*;

use super::{
    lanes::{scales_of, twice, values_at},
    order::Columns,
    panel::Row,
};
use crate::{
    format::{Format, Zero},
    input::Int8Group,
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
pub(super) struct Eight {
    /// Unsigned, in the order of [`COLUMNS`].
    pub(super) codes: [__m512i; 4],
    /// Each block's scale, twice.
    pub(super) scales: __m512,
    /// The same of its minimum.
    pub(super) minimums: __m512,
}

impl Eight {
    /// As a [`panel`](super::panel) wants them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn row(self) -> Row {
        Row { codes: self.codes, scales: self.scales, minimums: self.minimums }
    }
}

/// A group of activations, and what is the same for all rows of weights.
pub(super) struct Activations {
    /// In the order of [`COLUMNS`].
    values: [__m512i; 4],
    /// What the offset takes off. It matters only for a block as a whole, which has two of these
    /// numbers.
    start: __m512i,
    /// What the minimum is multiplied with.
    totals: __m512,
    /// Each block's scale, twice.
    scales: __m512,
}

impl Activations {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub(super) fn of<F: Format>(x: &Int8Group) -> Self {
        // SAFETY: 16 sums of 16 bits are 32 bytes.
        let sums = _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) });
        Self {
            values: in_columns(x),
            start: match F::ZERO {
                Zero::Offset(offset) => {
                    _mm512_mullo_epi32(sums, _mm512_set1_epi32(-i32::from(offset)))
                }
                Zero::Minimum => _mm512_setzero_si512(),
            },
            totals: _mm512_cvtepi32_ps(sums),
            scales: twice(scales_of(x)),
        }
    }

    /// For blocks that stand so many places later; zeros for those before them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn later(self, places: usize) -> Self {
        let from = _mm512_sub_epi64(
            _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7),
            _mm512_set1_epi64(places as i64),
        );
        let mask = u8::MAX << places;
        let moved = |v| _mm512_maskz_permutexvar_epi64(mask, from, v);
        let floats = |v| _mm512_castsi512_ps(moved(_mm512_castps_si512(v)));
        let [a, b, c, d] = self.values;
        Self {
            values: [moved(a), moved(b), moved(c), moved(d)],
            start: moved(self.start),
            totals: floats(self.totals),
            scales: floats(self.scales),
        }
    }

    /// Adds the products with eight blocks to `sum`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    pub(super) fn times<F: Format>(&self, eight: Eight, sum: __m512) -> __m512 {
        let mut products = self.start;
        for v in 0..4 {
            products = _mm512_dpbusd_epi32(products, eight.codes[v], self.values[v]);
        }
        let mut scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(products), eight.scales);
        if F::ZERO == Zero::Minimum {
            scaled = _mm512_fmadd_ps(self.totals, eight.minimums, scaled);
        }
        _mm512_fmadd_ps(scaled, self.scales, sum)
    }
}

/// Activations in the order of [`COLUMNS`].
#[inline]
#[target_feature(enable = "avx512bw")]
fn in_columns(x: &Int8Group) -> [__m512i; 4] {
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
