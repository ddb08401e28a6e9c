//! Many rows of activations: 32 rows of weights are unpacked once, 256 columns at a time, and multiplied with all of them.
//!
//! A panel is 16 rows of weights turned by 90°: a vector holds four neighbouring columns of each row, which is what `vpdpbusd` adds
//! up; its other operand is the same four activations in every lane. So each lane collects the output of one row of weights, and nothing
//! is added across lanes. The sums of 2 panels and 6 rows of activations stay in registers.

use std::arch::x86_64::*;

use super::lanes::{Order, transpose};
use crate::week2::{
    input::{GROUP, Input, Int8Group, SUM},
    matrix::Matrix,
    parallel::Tile,
};

/// Rows of weights in a panel.
const LANES: usize = 16;
/// Rows of activations whose sums are in registers at once.
const TOKENS: usize = 6;

/// 256 columns of a row of weights: a weight is `scale · (code − offset) + minimum`.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Unsigned bytes in the format's [`Order`].
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
        Self { codes: [_mm512_setzero_si512(); 4], scales: _mm512_setzero_ps(), minimums: _mm512_setzero_ps() }
    }
}

/// 256 columns of 16 rows of weights.
struct Panel {
    /// Four columns of each row.
    codes: [__m512i; GROUP / 4],
    /// One number for each row.
    scales: [__m512; GROUP / SUM],
    minimums: [__m512; GROUP / SUM],
}

/// Where a product of panels goes: the tile's columns `first..first + rows`.
struct Part {
    first: usize,
    rows: usize,
    /// Which group of columns is multiplied.
    group: usize,
    /// Blocks of columns with a scale of their own in it.
    blocks: usize,
}

/// A [`Kernel`](crate::week2::kernels::Kernel): `unpack` is given the bytes of 256 columns, or of as many as are left in a row. There is
/// a scale for each `COLUMNS`, 16 or 32; a `MINIMUM` is added or not.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const COLUMNS: usize, const OFFSET: u8, const MINIMUM: bool>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    order: Order,
    unpack: impl Fn(&[u8]) -> Row,
) {
    let (tokens, cols) = (tile.rows.clone(), tile.cols.clone());
    let group_bytes = GROUP / weight.tensor_type.block_len() * weight.tensor_type.block_bytes();
    for first in (0..cols.len()).step_by(2 * LANES) {
        let rows = cols.len().min(first + 2 * LANES) - first;
        for group in 0..x.groups() {
            let bytes = |i| weight.row(cols.start + first + i).chunks(group_bytes).nth(group).expect("a group of columns");
            let panel = |from: usize| fill(order, |i| if from + i < rows { unpack(bytes(from + i)) } else { Row::zeros() });
            let panels = [panel(0), panel(LANES)];
            let part = Part { first, rows, group, blocks: GROUP.min(weight.cols - group * GROUP) / COLUMNS };
            let mut t = tokens.start;
            while t < tokens.end {
                let n = TOKENS.min(tokens.end - t);
                match n {
                    1 => add::<1, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                    2 => add::<2, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                    3 => add::<3, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                    4 => add::<4, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                    5 => add::<5, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                    _ => add::<TOKENS, COLUMNS, OFFSET, MINIMUM>(&panels, x, &part, t, tile),
                }
                t += n;
            }
        }
    }
}

/// Unpacks 16 rows and turns them.
#[inline]
#[target_feature(enable = "avx512bw")]
fn fill(order: Order, row: impl Fn(usize) -> Row) -> Panel {
    let rows: [Row; LANES] = std::array::from_fn(row);
    let mut codes = [_mm512_setzero_si512(); GROUP / 4];
    for j in 0..4 {
        let columns = transpose(rows.map(|row| row.codes[j]));
        for (i, columns) in columns.into_iter().enumerate() {
            codes[order[4 * j + i / 4] * 4 + i % 4] = columns;
        }
    }
    let turned = |v: [__m512; LANES]| transpose(v.map(|v| _mm512_castps_si512(v))).map(|v| _mm512_castsi512_ps(v));
    Panel { codes, scales: turned(rows.map(|row| row.scales)), minimums: turned(rows.map(|row| row.minimums)) }
}

/// Adds the product with `N` rows of activations to the tile.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn add<const N: usize, const COLUMNS: usize, const OFFSET: u8, const MINIMUM: bool>(
    panels: &[Panel; 2],
    x: &Input,
    part: &Part,
    t: usize,
    tile: &mut Tile<'_, f32>,
) {
    let groups: [&Int8Group; N] = std::array::from_fn(|n| &x.int8_row(t + n)[part.group]);
    let sums = product::<N, COLUMNS, OFFSET, MINIMUM>(panels, groups, part.blocks);
    for n in 0..N {
        let out = &mut tile.row_mut(t + n)[part.first..][..part.rows];
        for (h, out) in out.chunks_mut(LANES).enumerate() {
            let mask = u16::MAX >> (LANES - out.len());
            let at = out.as_mut_ptr();
            // SAFETY: the mask has a bit for each number in `out`.
            unsafe {
                let before = if part.group == 0 { _mm512_setzero_ps() } else { _mm512_maskz_loadu_ps(mask, at) };
                _mm512_mask_storeu_ps(at, mask, _mm512_fmadd_ps(sums[n][h], _mm512_set1_ps(groups[n].scale), before));
            }
        }
    }
}

/// The product of two panels with `N` groups of activations, but for their scale.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn product<const N: usize, const COLUMNS: usize, const OFFSET: u8, const MINIMUM: bool>(
    panels: &[Panel; 2],
    x: [&Int8Group; N],
    blocks: usize,
) -> [[__m512; 2]; N] {
    // For each block of columns: what the offset takes off, which is the same in all rows, and what a minimum is multiplied with.
    let (mut starts, mut totals) = ([[0i32; LANES]; N], [[0f32; LANES]; N]);
    for n in 0..N {
        // SAFETY: 16 sums of 16 bits are 32 bytes; 16 numbers of 32 bits are 64.
        unsafe {
            let sums = _mm256_loadu_si256(x[n].sums.as_ptr().cast());
            let sums = match COLUMNS {
                16 => _mm512_cvtepi16_epi32(sums),
                _ => _mm512_zextsi256_si512(_mm256_madd_epi16(sums, _mm256_set1_epi16(1))),
            };
            let offset = _mm512_set1_epi32(-i32::from(OFFSET));
            _mm512_storeu_si512(starts[n].as_mut_ptr().cast(), _mm512_mullo_epi32(sums, offset));
            _mm512_storeu_ps(totals[n].as_mut_ptr(), _mm512_cvtepi32_ps(sums));
        }
    }
    let mut out = [[_mm512_setzero_ps(); 2]; N];
    for block in 0..blocks {
        let mut sums: [[__m512i; 2]; N] = std::array::from_fn(|n| [_mm512_set1_epi32(starts[n][block]); 2]);
        for i in block * COLUMNS / 4..(block + 1) * COLUMNS / 4 {
            for n in 0..N {
                let four = _mm512_set1_epi32(four_at(x[n], i));
                for h in 0..2 {
                    sums[n][h] = _mm512_dpbusd_epi32(sums[n][h], panels[h].codes[i], four);
                }
            }
        }
        for n in 0..N {
            for h in 0..2 {
                let piece = block * COLUMNS / SUM;
                out[n][h] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[n][h]), panels[h].scales[piece], out[n][h]);
                if MINIMUM {
                    out[n][h] = _mm512_fmadd_ps(panels[h].minimums[piece], _mm512_set1_ps(totals[n][block]), out[n][h]);
                }
            }
        }
    }
    out
}

/// Activations 4i to 4i + 3 as one number.
#[inline(always)]
fn four_at(x: &Int8Group, i: usize) -> i32 {
    let v = &x.values[4 * i..4 * i + 4];
    i32::from_le_bytes([v[0] as u8, v[1] as u8, v[2] as u8, v[3] as u8])
}
