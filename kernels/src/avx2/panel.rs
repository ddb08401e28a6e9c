//! 16 weight rows side by side: a register holds four neighbouring codes of each of eight rows, so
//! that four activations on all lanes meet eight rows at once, and what comes out is a lane for
//! each row: nothing is left to be added up across lanes.

use std::arch::x86_64::*;

use super::lanes::half;
use crate::{
    input::{GROUP, Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// Weight rows in a panel: two registers of eight lanes.
pub(super) const ROWS: usize = 16;

/// Rows of activations that are multiplied at a time: their sums stay in registers.
pub(super) const COLUMNS: usize = 4;

/// Rows of activations for which sums are kept before a panel is filled anew.
const CHUNK: usize = 256;

/// [`GROUP`] columns of [`ROWS`] rows, out of their blocks.
#[repr(C, align(32))]
pub(super) struct Panel {
    /// `[2, columns / 4, ROWS, 4]`: codes, or their lower and upper four bits.
    codes: [[[u8; 4 * ROWS]; GROUP / 4]; 2],
    /// `[blocks, ROWS]`: what a block's sums are multiplied with.
    pub(super) scales: [[f32; ROWS]; 8],
    /// `[ROWS]`: what the sums of products with `minimums` are multiplied with.
    pub(super) minimum_scales: [f32; ROWS],
    /// `[sub-blocks of 16, ROWS, 2]`: whole-number scales, each twice: for the two sums of pairs
    /// that become one.
    pub(super) factors: [[[i16; 2]; ROWS]; 16],
    /// `[pairs of sub-blocks of 16, ROWS, 2]`: what is multiplied with the sums of the activations.
    pub(super) minimums: [[[i16; 2]; ROWS]; 8],
}

impl Panel {
    fn zero() -> Self {
        Self {
            codes: [[[0; 4 * ROWS]; GROUP / 4]; 2],
            scales: [[0.0; ROWS]; 8],
            minimum_scales: [0.0; ROWS],
            factors: [[[0; 2]; ROWS]; 16],
            minimums: [[[0; 2]; ROWS]; 8],
        }
    }

    /// The codes of columns `4k…4k + 3`, of rows 0…7 and 8…15.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn codes(&self, plane: usize, k: usize) -> [__m256i; 2] {
        let at = self.codes[plane][k].as_ptr();
        // SAFETY: 64 bytes at an address that is a multiple of 32, as the panel's is.
        unsafe { [_mm256_load_si256(at.cast()), _mm256_load_si256(at.add(32).cast())] }
    }

    /// Sets a scale of each row in `scales[b]`: that of block `b`, or 0 where a row has no such
    /// block.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn set_block_scales<const BYTES: usize>(&mut self, rows: &[&[[u8; BYTES]]; ROWS]) {
        for (b, scales) in self.scales.iter_mut().enumerate() {
            for (scale, blocks) in scales.iter_mut().zip(rows) {
                *scale = blocks.get(b).map_or(0.0, |block| half_at(block, 0));
            }
        }
    }

    /// Lays out 32 codes of each of eight rows: columns `32 · chunk…`, rows `8 · half…`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn set_codes(
        &mut self,
        plane: usize,
        chunk: usize,
        half: usize,
        rows: [__m256i; 8],
    ) {
        for (k, codes) in transpose(rows).into_iter().enumerate() {
            let to: &mut [u8] = &mut self.codes[plane][8 * chunk + k][32 * half..][..32];
            // SAFETY: the slice has 32 bytes, and this store asks for no alignment.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) }
        }
    }
}

/// The half-precision number whose first byte is `at`. As [`f16_at`](crate::blocks::f16_at),
/// which must ask for the instruction each time that it is called and takes more than twice as
/// long: 108 ns for the 128 scales of a panel of blocks, in place of 48.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn half_at(block: &[u8], at: usize) -> f32 {
    _mm_cvtss_f32(half([block[at], block[at + 1]]))
}

/// Adds up products and scales: `sums += scale · products` for the rows of a panel.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn accumulate(sums: &mut [f32; ROWS], scale: f32, products: [__m256; 2]) {
    let (scale, [low, high]) = (_mm256_set1_ps(scale), floats(sums));
    let to = sums.as_mut_ptr();
    // SAFETY: 16 numbers of four bytes; these stores ask for no alignment.
    unsafe {
        _mm256_storeu_ps(to, _mm256_fmadd_ps(scale, products[0], low));
        _mm256_storeu_ps(to.add(8), _mm256_fmadd_ps(scale, products[1], high));
    }
}

/// Eight lanes of a row of the panel's numbers, rows 0…7 and 8…15.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn floats(row: &[f32; ROWS]) -> [__m256; 2] {
    // SAFETY: 16 numbers of four bytes; these loads ask for no alignment.
    unsafe { [_mm256_loadu_ps(row.as_ptr()), _mm256_loadu_ps(row.as_ptr().add(8))] }
}

/// As [`floats`], for pairs of i16.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn pairs(row: &[[i16; 2]; ROWS]) -> [__m256i; 2] {
    // SAFETY: 16 pairs of four bytes; these loads ask for no alignment.
    unsafe {
        [_mm256_loadu_si256(row.as_ptr().cast()), _mm256_loadu_si256(row.as_ptr().add(8).cast())]
    }
}

/// Activations `4k…4k + 3` on all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn activations(x: &Int8Group, k: usize) -> __m256i {
    let &[a, b, c, d] = &x.values.as_chunks().0[k];
    _mm256_set1_epi32(i32::from_le_bytes([a as u8, b as u8, c as u8, d as u8]))
}

/// Two sums of 16 activations, `2k` and `2k + 1`, on all lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sums(x: &Int8Group, k: usize) -> __m256i {
    let [low, high] = x.sums.as_chunks().0[k];
    _mm256_set1_epi32(i32::from(low as u16) | i32::from(high) << 16)
}

/// Eight rows of eight lanes of 32 bits become columns.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(r: [__m256i; 8]) -> [__m256i; 8] {
    let two = |a, b| [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
    let four = |a: [__m256i; 2], b: [__m256i; 2]| {
        [
            _mm256_unpacklo_epi64(a[0], b[0]),
            _mm256_unpackhi_epi64(a[0], b[0]),
            _mm256_unpacklo_epi64(a[1], b[1]),
            _mm256_unpackhi_epi64(a[1], b[1]),
        ]
    };
    let upper = four(two(r[0], r[1]), two(r[2], r[3]));
    let lower = four(two(r[4], r[5]), two(r[6], r[7]));
    let low = |i: usize| _mm256_permute2x128_si256::<0x20>(upper[i], lower[i]);
    let high = |i: usize| _mm256_permute2x128_si256::<0x31>(upper[i], lower[i]);
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
}

/// Fills a panel with a group of 16 rows, each of as many blocks as the row still has, and
/// multiplies it with all rows of activations, group by group.
///
/// `fill` takes blocks out of their bytes; `add` adds products with four rows of activations to
/// their sums.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn multiply<const BYTES: usize, const BLOCKS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    fill: impl Fn(&mut Panel, &[&[[u8; BYTES]]; ROWS]),
    add: impl Fn(&Panel, [&Int8Group; COLUMNS], &mut [[f32; ROWS]; COLUMNS]),
) {
    let mut panel = Panel::zero();
    let mut sums = [[[0.0; ROWS]; COLUMNS]; CHUNK / COLUMNS];
    let (cols, tokens) = (tile.cols.clone(), tile.rows.clone());
    for first in cols.clone().step_by(ROWS) {
        // Rows beyond the tile's repeat its last one, here and below; what becomes of them is not
        // written.
        let rows: [&[[u8; BYTES]]; ROWS] =
            std::array::from_fn(|i| weight.row((first + i).min(cols.end - 1)).as_chunks().0);
        for start in tokens.clone().step_by(CHUNK) {
            let end = tokens.end.min(start + CHUNK);
            let sums = &mut sums[..(end - start).div_ceil(COLUMNS)];
            sums.fill([[0.0; ROWS]; COLUMNS]);
            for g in 0..x.groups() {
                fill(
                    &mut panel,
                    &rows.map(|row| &row[g * BLOCKS..row.len().min((g + 1) * BLOCKS)]),
                );
                for (i, sums) in sums.iter_mut().enumerate() {
                    let group = |j: usize| &x.int8_row((start + COLUMNS * i + j).min(end - 1))[g];
                    add(&panel, std::array::from_fn(group), sums);
                }
            }
            let width = ROWS.min(cols.end - first);
            for (t, sums) in (start..end).zip(sums.as_flattened()) {
                tile.row_mut(t)[first - cols.start..][..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}
