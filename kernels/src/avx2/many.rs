//! Products of blocks of 256 weights and many rows of activations: fills a panel with weights,
//! multiplies it by all rows of activations, and continues with the next weights.

use std::arch::x86_64::*;

use super::{
    panel::{Panel, ROWS, TOKENS},
    product,
    super_blocks::Head,
};
use crate::{format::Format, input::Input, matrix::Matrix, parallel::Tile};

/// Maximum number of rows of activations that are multiplied each time a panel is filled.
const CHUNK: usize = 256;

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). `head` must unpack everything in a
/// block except its codes, `codes` must load the bytes of one half of a block, and `split` must
/// convert these bytes to 128 codes.
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
    let mut panel = Panel::zero();
    let mut sums = [[[0.0; ROWS]; TOKENS]; CHUNK / TOKENS];
    let (cols, tokens) = (tile.cols(), tile.rows());
    let ahead = ROWS * weight.row_bytes();
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
                let blocks = rows.map(|row| &row[g]);
                panel.fill::<F, BYTES, PARTS>(&blocks, ahead, &head, &codes, &split);
                for (i, sums) in sums.iter_mut().enumerate() {
                    let super_block =
                        |j: usize| &x.int8_row((start + TOKENS * i + j).min(end - 1))[g];
                    product::add::<F>(&panel, std::array::from_fn(super_block), sums);
                }
            }
            let there = ROWS.min(cols.end - first);
            for (t, sums) in (start..end).zip(sums.as_flattened()) {
                tile.row_mut(t)[first - cols.start..][..there].copy_from_slice(&sums[..there]);
            }
        }
    }
}
