//! Many rows of activations: 32 rows of weights are unpacked once, 256 columns at a time, and
//! multiplied with all of them.
//!
//! A panel is 16 rows of weights turned by 90°: a vector holds four neighbouring columns of each
//! row, which is what `vpdpbusd` adds up; its other operand is the same four activations in every
//! lane. So each lane collects the output of one row of weights, and nothing is added across lanes.
//! The sums of 2 panels and 6 rows of activations stay in registers.

use std::arch::x86_64::*;

use super::{
    lanes::transpose,
    order::Columns,
    product::{add, fetch, store},
};
use crate::{
    format::Format,
    input::{GROUP, Input, SUM},
    matrix::Matrix,
    parallel::Tile,
    prefetch,
};

/// Rows of weights in a panel.
pub(super) const LANES: usize = 16;
/// Rows of activations whose sums are in registers at once.
const TOKENS: usize = 6;
/// Rows of activations for which weights are unpacked once.
const CHUNK: usize = 256;

/// 256 columns of a row of weights: a weight is `scale · (code − offset) + minimum`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Unsigned bytes in the order of the format's [`Columns`].
    pub(super) codes: [__m512i; 4],
    /// One for each 16 columns.
    pub(super) scales: __m512,
    /// One for each 16 columns; not used in a format without.
    pub(super) minimums: __m512,
}

impl Row {
    /// Stands for a row that is not there.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zeros() -> Self {
        Self {
            codes: [_mm512_setzero_si512(); 4],
            scales: _mm512_setzero_ps(),
            minimums: _mm512_setzero_ps(),
        }
    }
}

/// 256 columns of 16 rows of weights.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    /// Four columns of each row.
    pub(super) codes: [__m512i; GROUP / 4],
    /// One number for each row.
    pub(super) scales: [__m512i; GROUP / SUM],
    pub(super) minimums: [__m512i; GROUP / SUM],
    /// The same before it is turned: four vectors of codes of each row, then scales, then minimums.
    rows: [[__m512i; LANES]; 6],
}

/// A [`Kernel`](crate::Kernel): `unpack` is given the bytes of 256 columns, or of
/// as many as are left in a row.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    columns: &Columns,
    unpack: impl Fn(&[u8]) -> Row,
) {
    let zero = _mm512_setzero_si512();
    let mut panels = [Panel {
        codes: [zero; GROUP / 4],
        scales: [zero; LANES],
        minimums: [zero; LANES],
        rows: [[zero; LANES]; 6],
    }; 2];
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let group_bytes = GROUP / weight.tensor_type.block_len() * weight.tensor_type.block_bytes();
    for first in tile.rows().step_by(CHUNK) {
        let tokens = first..tile.rows().end.min(first + CHUNK);
        for col in tile.cols().step_by(2 * LANES) {
            let cols = col..tile.cols().end.min(col + 2 * LANES);
            // The outputs of neighbouring tokens lie far apart, at a distance at which a cache
            // holds but few; here they are neighbours.
            let mut sums = [[_mm512_setzero_ps(); 2]; CHUNK];
            for group in 0..x.groups() {
                let bytes = |row: usize, group: usize| {
                    let row = &bytes[row * row_bytes..][..row_bytes];
                    &row[group * group_bytes..row_bytes.min((group + 1) * group_bytes)]
                };
                for (h, panel) in panels.iter_mut().enumerate() {
                    let row = |i: usize| cols.start + h * LANES + i;
                    panel.fill(columns, |i| {
                        if row(i) < cols.end { unpack(bytes(row(i), group)) } else { Row::zeros() }
                    });
                }
                // These rows' next columns, or the next rows' first: while this is multiplied, they
                // have time to come.
                let (from, next) =
                    if group + 1 < x.groups() { (cols.start, group + 1) } else { (cols.end, 0) };
                for row in from..tile.cols().end.min(from + 2 * LANES) {
                    let bytes = bytes(row, next);
                    prefetch::fetch(bytes.as_ptr(), bytes.len());
                }
                let blocks = GROUP.min(weight.cols - group * GROUP) / F::PER_SCALE;
                for t in tokens.clone().step_by(TOKENS) {
                    let sums = &mut sums[t - first..];
                    for next in (t + TOKENS..tokens.end).take(TOKENS) {
                        fetch(&x.int8_row(next)[group]);
                    }
                    let group = |n: usize| &x.int8_row(t + n)[group];
                    match tokens.end - t {
                        1 => {
                            add::<F, 1>(&panels, group, blocks, sums);
                        }
                        2 => {
                            add::<F, 2>(&panels, group, blocks, sums);
                        }
                        3 => {
                            add::<F, 3>(&panels, group, blocks, sums);
                        }
                        4 => {
                            add::<F, 4>(&panels, group, blocks, sums);
                        }
                        5 => {
                            add::<F, 5>(&panels, group, blocks, sums);
                        }
                        _ => add::<F, TOKENS>(&panels, group, blocks, sums),
                    }
                }
            }
            for t in tokens.clone() {
                let from = cols.start - tile.cols().start;
                store(sums[t - first], &mut tile.row_mut(t)[from..][..cols.len()]);
            }
        }
    }
}

impl Panel {
    /// Unpacks 16 rows and turns them.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn fill(&mut self, columns: &Columns, row: impl Fn(usize) -> Row) {
        for i in 0..LANES {
            let row = row(i);
            for j in 0..4 {
                self.rows[j][i] = row.codes[j];
            }
            self.rows[4][i] = _mm512_castps_si512(row.scales);
            self.rows[5][i] = _mm512_castps_si512(row.minimums);
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
