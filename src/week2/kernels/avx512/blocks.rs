//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows of activations.
//!
//! Eight blocks at a time, 256 columns. Every vector of codes holds eight weights of each block, always in the same place: so all 256
//! products end up in one vector of sums, which is converted once and meets one vector of scales.

use std::arch::x86_64::*;

use super::{
    lanes::{add_up, scales_of, twice, values_at},
    order::Columns,
    panel::Row,
};
use crate::week2::{
    input::{Input, Int8Group},
    kernels::{
        prefetch::{distance, prefetch},
        streams::{STREAMS, each_four},
    },
    matrix::Matrix,
    parallel::Tile,
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

/// A [`Kernel`](crate::week2::kernels::Kernel): `unpack` is given the bytes of eight blocks, or of fewer at the end of a row. A weight is
/// `scale · (code − OFFSET)`, or where there is a `MINIMUM`, `scale · code + minimum`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    unpack: impl Fn(&[u8]) -> Eight + Copy,
) {
    each_four(weight, tile, |rows, t| dot::<BYTES, OFFSET, MINIMUM>(rows, x.int8_row(t), unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    rows: [&[u8]; STREAMS],
    x: &[Int8Group],
    unpack: impl Fn(&[u8]) -> Eight,
) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let (whole, rest) = (rows[0].len() / (8 * BYTES), rows[0].len() % (8 * BYTES));
    for (g, x) in x[..whole].iter().enumerate() {
        let x = Activations::of::<OFFSET>(x);
        for s in 0..STREAMS {
            // So many as the compiler knows: nothing is to be checked in `unpack`.
            let bytes = &rows[s][g * 8 * BYTES..(g + 1) * 8 * BYTES];
            prefetch(bytes, ahead);
            sums[s] = x.times::<MINIMUM>(unpack(bytes), sums[s]);
        }
    }
    if let Some(x) = x.get(whole) {
        let x = Activations::of::<OFFSET>(x);
        for s in 0..STREAMS {
            sums[s] = x.times::<MINIMUM>(unpack(&rows[s][whole * 8 * BYTES..][..rest]), sums[s]);
        }
    }
    add_up(sums)
}

/// A group of activations, and what is the same for all rows of weights.
struct Activations {
    /// In the order of [`COLUMNS`].
    values: [__m512i; 4],
    /// What the offset takes off. It matters only for a block as a whole, which has two of these numbers.
    start: __m512i,
    /// What the minimum is multiplied with.
    totals: __m512,
    /// Each block's scale, twice.
    scales: __m512,
}

impl Activations {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    fn of<const OFFSET: u8>(x: &Int8Group) -> Self {
        // SAFETY: 16 sums of 16 bits are 32 bytes.
        let sums = _mm512_cvtepi16_epi32(unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) });
        Self {
            values: in_columns(x),
            start: _mm512_mullo_epi32(sums, _mm512_set1_epi32(-i32::from(OFFSET))),
            totals: _mm512_cvtepi32_ps(sums),
            scales: twice(scales_of(x)),
        }
    }

    /// Adds the products with eight blocks to `sum`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn times<const MINIMUM: bool>(&self, eight: Eight, sum: __m512) -> __m512 {
        let mut products = self.start;
        for v in 0..4 {
            products = _mm512_dpbusd_epi32(products, eight.codes[v], self.values[v]);
        }
        let mut scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(products), eight.scales);
        if MINIMUM {
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
    let four = |from: usize, v: i64| _mm512_permutex2var_epi64(values_at(x, from), index(v), values_at(x, from + 64));
    let (a, b) = (four(0, 0), four(128, 0));
    let (c, d) = (four(0, 2), four(128, 2));
    let first = |a, b| _mm512_shuffle_i64x2::<0b01_00_01_00>(a, b);
    let second = |a, b| _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b);
    [first(a, b), second(a, b), first(c, d), second(c, d)]
}
