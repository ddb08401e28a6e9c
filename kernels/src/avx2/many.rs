//! Products for many rows of activations: fills a panel with weights, multiplies it by all rows of
//! activations, and continues with the next rows of weights.

use std::arch::x86_64::*;

use super::{
    panel::{Panel, ROWS, TOKENS},
    product::{self, Sums},
    super_blocks::Head,
};
use crate::{
    format::Format,
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
};

/// Number of rows of activations that are multiplied each time a panel is filled.
const CHUNK: usize = 256;

/// Computes a tile of the output for blocks of 32 weights; see [`Kernel`](crate::Kernel). `codes`
/// must unpack the 32 codes of a block, and `split` must divide a register of codes into `PLANES`
/// parts of four bits.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn blocks<F: Format, const BYTES: usize, const PLANES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    codes: impl Fn(&[u8; BYTES]) -> __m256i,
    split: impl Fn(__m256i) -> [__m256i; PLANES],
) {
    multiply::<BYTES, 8>(
        weight,
        x,
        tile,
        |panel, rows, ahead| panel.fill_blocks::<F, BYTES, PLANES>(rows, ahead, &codes, &split),
        |panel, x, sums| product::blocks::<F, PLANES>(panel, x, sums),
    );
}

/// Computes a tile of the output for blocks of 256 weights; see [`Kernel`](crate::Kernel). `head`
/// must unpack everything in a block but its codes. `codes` must load the bytes of one half of a
/// block, and `split` must convert these to 128 codes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn super_blocks<F: Format, const BYTES: usize, const PARTS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    head: impl Fn(&[u8; BYTES]) -> Head,
    codes: impl Fn(&[u8; BYTES], usize) -> [__m256i; PARTS],
    split: impl Fn([__m256i; PARTS]) -> [__m256i; 4],
) {
    multiply::<BYTES, 1>(
        weight,
        x,
        tile,
        |panel, rows, ahead| {
            let rows = rows.map(|row| &row[0]);
            panel.fill_super_blocks::<F, BYTES, PARTS>(&rows, ahead, &head, &codes, &split);
        },
        |panel, x, sums| product::super_blocks::<F>(panel, x, sums),
    );
}

/// Fills a panel with a super-block of 16 rows (or the remaining blocks of each row), and
/// multiplies it by all rows of activations, super-block by super-block.
///
/// `fill` must unpack blocks and prefetch the next rows, which begin at the given distance. `add`
/// must add the products with four rows of activations to the rows' sums.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn multiply<const BYTES: usize, const BLOCKS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    fill: impl Fn(&mut Panel, &[&[[u8; BYTES]]; ROWS], usize),
    add: impl Fn(&Panel, [&Int8SuperBlock; TOKENS], &mut Sums),
) {
    let mut panel = Panel::zero();
    let mut sums = [[[0.0; ROWS]; TOKENS]; CHUNK / TOKENS];
    let (cols, tokens) = (tile.cols(), tile.rows());
    for first in cols.clone().step_by(ROWS) {
        // Here and below, rows past the end of the tile repeat its last row. Their results aren't
        // written.
        let rows: [&[[u8; BYTES]]; ROWS] =
            std::array::from_fn(|i| weight.row((first + i).min(cols.end - 1)).as_chunks().0);
        for start in tokens.clone().step_by(CHUNK) {
            let end = tokens.end.min(start + CHUNK);
            let sums = &mut sums[..(end - start).div_ceil(TOKENS)];
            sums.fill([[0.0; ROWS]; TOKENS]);
            for g in 0..x.super_blocks() {
                fill(
                    &mut panel,
                    &rows.map(|row| &row[g * BLOCKS..row.len().min((g + 1) * BLOCKS)]),
                    ROWS * weight.row_bytes(),
                );
                for (i, sums) in sums.iter_mut().enumerate() {
                    let super_block =
                        |j: usize| &x.int8_row((start + TOKENS * i + j).min(end - 1))[g];
                    add(&panel, std::array::from_fn(super_block), sums);
                }
            }
            let there = ROWS.min(cols.end - first);
            for (t, sums) in (start..end).zip(sums.as_flattened()) {
                tile.row_mut(t)[first - cols.start..][..there].copy_from_slice(&sums[..there]);
            }
        }
    }
}
