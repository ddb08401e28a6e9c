//! 16 rows of weights turned by 90°: a vector holds four neighbouring columns of each row, which is
//! what `vpdpbusd` adds up; its other operand is the same four activations in every lane. So each
//! lane collects the output of one row of weights, and nothing is added across lanes.
//!
//! Bytes can be turned before codes are taken out of them, which is less work where a byte has
//! several: that is in [`fill`](super::fill).

use std::arch::x86_64::*;

use super::{lanes::transpose, order::Columns};
use crate::{
    input::{SUM, SUPER_BLOCK},
    prefetch::{LINE, fetch_line},
};

/// Rows of weights in a panel.
pub(super) const LANES: usize = 16;
/// 256 columns of a row of weights: a weight is `scale · (code − offset) + minimum`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Unsigned bytes in the order of the format's [`Columns`].
    pub(super) codes: [__m512i; 4],
    /// One for each 16 columns; of blocks of 256 columns the whole numbers.
    pub(super) scales: __m512,
    /// One for each 16 columns, not used in a format without. Of blocks of 256 columns whole
    /// numbers of 16 bits, and behind them as floats what scales are multiplied with, and what
    /// minimums are.
    pub(super) minimums: __m512i,
}

/// The bytes of 256 columns of 16 rows of weights, or of as many as are left in a row.
pub(super) struct Rows<'a> {
    pub(super) rows: [&'a [u8]; LANES],
    pub(super) soon: Soon,
}

/// The same of whole super-blocks, whose length a compiler knows: nothing is checked where a piece
/// of them is loaded.
pub(super) struct Whole<'a, const BYTES: usize> {
    pub(super) rows: [&'a [u8; BYTES]; LANES],
    pub(super) soon: Soon,
}

impl<'a> Rows<'a> {
    /// `None` at the end of rows that are no multiple of a super-block.
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
    /// Asks for the last lines of what will be needed soon, from line `first` on.
    #[inline(always)]
    pub(super) fn fetch_rest(&self, first: usize) {
        let lines = (LANES * BYTES).div_ceil(LINE);
        // Where each row has lines of its own, its last may hold little of it.
        let rows_apart = self.soon.sixteen_apart == LINE;
        for line in first..if rows_apart { lines.next_multiple_of(LANES) } else { lines } {
            self.soon.fetch(line);
        }
    }
}

/// What will be needed soon, in lines of 64 bytes. A core waits for no more than a dozen or so,
/// therefore they are asked for one by one, while others are worked on.
#[derive(Clone, Copy)]
pub(super) struct Soon {
    pub(super) from: *const u8,
    /// From one line to the next, and after each 16 of them.
    pub(super) apart: usize,
    pub(super) sixteen_apart: usize,
}

impl Soon {
    /// Asks for a line.
    #[inline(always)]
    pub(super) fn fetch(self, line: usize) {
        let at = line % LANES * self.apart + line / LANES * self.sixteen_apart;
        fetch_line(self.from.wrapping_add(at));
    }
}

/// 256 columns of 16 rows of weights.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    /// Four columns of each row.
    pub(super) codes: [__m512i; SUPER_BLOCK / 4],
    /// One number for each row.
    pub(super) scales: [__m512i; SUPER_BLOCK / SUM],
    pub(super) minimums: [__m512i; SUPER_BLOCK / SUM],
    /// The same before it is turned: four vectors of codes of each row, then scales, then minimums.
    rows: [[__m512i; LANES]; 6],
}

impl Panel {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zeros() -> Self {
        let zero = _mm512_setzero_si512();
        Self {
            codes: [zero; SUPER_BLOCK / 4],
            scales: [zero; LANES],
            minimums: [zero; LANES],
            rows: [[zero; LANES]; 6],
        }
    }

    /// Unpacks 16 rows and turns them.
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
                    4 => self.scales[i] = turned[i],
                    _ => self.minimums[i] = turned[i],
                }
            }
        }
    }
}
