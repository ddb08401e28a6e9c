//! Products for many rows of activations. Loops over the matrix's rows: fills a panel with weights,
//! then multiplies it by all rows of activations.

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

/// Rows of activations for which sums are kept before a panel is filled again.
const CHUNK: usize = 256;

/// A [`Kernel`](crate::Kernel) for blocks of 32 weights: `codes` takes 32 codes out of a block, and
/// `split` makes `PLANES` parts of four bits of a register of codes.
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

/// A [`Kernel`](crate::Kernel) for blocks of 256 weights: `head` and `codes` take a block apart,
/// `codes` the bytes of one half of it, of which `split` makes 128 codes.
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

/// Fills a panel with a super-block of 16 rows, or with the remaining blocks of each row, and
/// multiplies it by all rows of activations, super-block by super-block.
///
/// `fill` unpacks blocks and prefetches the bytes at the given distance, where the next rows are.
/// `add` adds the products with four rows of activations to their sums.
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
        // Rows beyond the tile repeat its last one, here and below. Their results aren't written.
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
