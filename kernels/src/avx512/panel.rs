//! A panel: 16 rows of weights, transposed. A vector holds four neighbouring columns of each row,
//! whose products `vpdpbusd` adds. The instruction's other operand has the same four activations in
//! every lane. So each lane computes the output of one row of weights, and nothing is added across
//! lanes.
//!
//! Bytes can be transposed before codes are unpacked from them, which is less work if a byte has
//! several codes. See [`fill`](super::fill).

use std::arch::x86_64::*;

use super::{lanes::transpose, order::Columns};
use crate::{
    input::{SUM, SUPER_BLOCK},
    prefetch::{LINE, fetch_line},
};

/// Number of rows of weights in a panel.
pub(super) const LANES: usize = 16;
/// 256 unpacked columns of a row of weights. In formats with blocks of 32 columns, a weight is
/// `scale · (code − offset) + minimum`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Unsigned codes, one byte each, in the order of the format's [`Columns`].
    pub(super) codes: [__m512i; 4],
    /// One scale for every 16 columns. For blocks of 256 columns, the integer scales.
    pub(super) scales: __m512,
    /// One minimum for every 16 columns, unused in formats without minimums. For blocks of 256
    /// columns, the 16-bit integer minimums, followed by the factors of the scales and of the
    /// minimums as floats.
    pub(super) minimums: __m512i,
}

/// The bytes of 256 columns of 16 rows of weights, or of all remaining columns.
pub(super) struct Rows<'a> {
    pub(super) rows: [&'a [u8]; LANES],
    pub(super) soon: Soon,
}

/// The bytes of a whole super-block of 16 rows. The length is known at compile time, so no bounds
/// are checked when a piece is loaded.
pub(super) struct Whole<'a, const BYTES: usize> {
    pub(super) rows: [&'a [u8; BYTES]; LANES],
    pub(super) soon: Soon,
}

impl<'a> Rows<'a> {
    /// Returns the first `BYTES` bytes of each row, or `None` if the rows are shorter.
    #[inline]
    pub(super) fn whole<const BYTES: usize>(&self) -> Option<Whole<'a, BYTES>> {
        let mut rows = [&[0; BYTES]; LANES];
        for i in 0..LANES {
            rows[i] = self.rows[i].first_chunk()?;
        }
        Some(Whole { rows, soon: self.soon })
    }
}

impl<const BYTES: usize> Whole<'_, BYTES> {
    /// Prefetches all lines of the data that will be needed soon, starting at line `first`.
    #[inline(always)]
    pub(super) fn fetch_rest(&self, first: usize) {
        let lines = (LANES * BYTES).div_ceil(LINE);
        // If each row has its own cache lines, the last line may contain only a few of the row's
        // bytes.
        let rows_apart = self.soon.sixteen_apart == LINE;
        for line in first..if rows_apart { lines.next_multiple_of(LANES) } else { lines } {
            self.soon.fetch(line);
        }
    }
}

/// Data that will be needed soon, in cache lines of 64 bytes. A core can have only about a dozen
/// loads of cache lines in flight, so the lines are prefetched one by one during other work.
#[derive(Clone, Copy)]
pub(super) struct Soon {
    pub(super) from: *const u8,
    /// Distance in bytes between neighbouring lines of a group of 16.
    pub(super) apart: usize,
    /// Distance in bytes between neighbouring groups of 16 lines.
    pub(super) sixteen_apart: usize,
}

impl Soon {
    /// Prefetches line `line` of the data.
    #[inline(always)]
    pub(super) fn fetch(self, line: usize) {
        let at = line % LANES * self.apart + line / LANES * self.sixteen_apart;
        fetch_line(self.from.wrapping_add(at));
    }
}

/// The scales and minimums of 256 columns of 16 rows, and the factors by which they are multiplied.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    /// Scales: each vector has one scale of each row. In formats with a scale for 32 columns, only
    /// every second vector is used.
    pub(super) scales: [__m512i; SUPER_BLOCK / SUM],
    /// Minimums and factors, as in [`Row`]: each vector has one element of each row. Integer
    /// minimums of 32 columns each are in the first four vectors.
    pub(super) minimums: [__m512i; SUPER_BLOCK / SUM],
}

impl Factors {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zeros() -> Self {
        Self { scales: [_mm512_setzero_si512(); 16], minimums: [_mm512_setzero_si512(); 16] }
    }
}

/// 256 columns of 16 rows of weights.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    /// Codes: each vector has four columns of each row.
    pub(super) codes: [__m512i; SUPER_BLOCK / 4],
    pub(super) factors: Factors,
    /// The panel before it is transposed: for each row, four vectors of codes, then scales, then
    /// minimums.
    rows: [[__m512i; LANES]; 6],
}

impl Panel {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zeros() -> Self {
        let zero = _mm512_setzero_si512();
        Self { codes: [zero; SUPER_BLOCK / 4], factors: Factors::zeros(), rows: [[zero; LANES]; 6] }
    }

    /// Unpacks 16 rows with `unpack`, and transposes them. `columns` is the order of the unpacked
    /// codes.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn fill(
        &mut self,
        columns: &Columns,
        rows: &Rows<'_>,
        unpack: impl Fn(&[u8]) -> Row,
    ) {
        for i in 0..LANES {
            for line in 0..rows.rows[i].len().div_ceil(LINE) {
                rows.soon.fetch(LANES * line + i);
            }
            let row = unpack(rows.rows[i]);
            for j in 0..4 {
                self.rows[j][i] = row.codes[j];
            }
            self.rows[4][i] = _mm512_castps_si512(row.scales);
            self.rows[5][i] = row.minimums;
        }
        for (j, rows) in self.rows.iter().enumerate() {
            let turned = transpose(*rows);
            for i in 0..LANES {
                match j {
                    0..4 => self.codes[columns[16 * j + i]] = turned[i],
                    4 => self.factors.scales[i] = turned[i],
                    _ => self.factors.minimums[i] = turned[i],
                }
            }
        }
    }
}
