//! Products for many rows of activations: unpacks 32 rows of weights once, 256 columns at a time,
//! and multiplies them by all rows. The sums of 2 panels and 6 rows of activations stay in
//! registers.

use std::arch::x86_64::*;

use super::{
    panel::{LANES, Panel, Rows, Soon},
    product::{add, fetch, store},
};
use crate::{
    format::Format,
    input::{Input, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    prefetch::LINE,
};

/// Number of rows of activations whose sums are in registers at the same time.
const TOKENS: usize = 6;
/// Maximum number of rows of activations that are multiplied each time weights are unpacked.
const CHUNK: usize = 256;
/// Number of rows of activations above which multiplying a panel takes longer than reading its
/// weights from memory.
const SOON: usize = 64;

/// Computes a tile of the output; see [`Kernel`](crate::Kernel). `fill` is called with the bytes of
/// 256 columns of each row, or of all remaining columns.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    fill: impl Fn(&mut Panel, &Rows),
) {
    let mut panels = [Panel::zeros(); 2];
    // In the output, the sums that a column has for neighbouring rows of activations are so far
    // apart that the cache can hold only a few of them. Here they are contiguous.
    let mut sums = [[_mm512_setzero_ps(); 2]; CHUNK];
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let super_block_bytes =
        SUPER_BLOCK / weight.tensor_type.block_len() * weight.tensor_type.block_bytes();
    for first in tile.rows().step_by(CHUNK) {
        let tokens = first..tile.rows().end.min(first + CHUNK);
        // The memory to prefetch while a panel is filled. With only a few rows of activations,
        // reading takes longer than a panel's products, so the next rows of weights are prefetched
        // in memory order. With many rows, only the next columns of the same rows are prefetched,
        // because data that is prefetched earlier would be evicted before it is used.
        let soon = |rows: &[&[u8]; LANES], row: usize, (g, h): (usize, usize)| {
            if tokens.len() > SOON && g + 1 < x.super_blocks() {
                let from = rows[0].as_ptr().wrapping_add(super_block_bytes);
                return Soon { from, apart: row_bytes, sixteen_apart: LINE };
            }
            let at = (row + 2 * LANES) * row_bytes + (2 * g + h) * LANES * super_block_bytes;
            let from = bytes.as_ptr().wrapping_add(at);
            Soon { from, apart: LINE, sixteen_apart: LANES * LINE }
        };
        for col in tile.cols().step_by(2 * LANES) {
            let cols = col..tile.cols().end.min(col + 2 * LANES);
            sums[..tokens.len()].fill([_mm512_setzero_ps(); 2]);
            for g in 0..x.super_blocks() {
                let slice = |row: usize, g: usize| {
                    let row = &bytes[row * row_bytes..][..row_bytes];
                    &row[g * super_block_bytes..row_bytes.min((g + 1) * super_block_bytes)]
                };
                for (h, panel) in panels.iter_mut().enumerate() {
                    // Rows past the end of the tile repeat its last row. Their results aren't
                    // written.
                    let row = |i: usize| (cols.start + h * LANES + i).min(cols.end - 1);
                    let mut rows = [&bytes[..0]; LANES];
                    for i in 0..LANES {
                        rows[i] = slice(row(i), g);
                    }
                    fill(panel, &Rows { rows, soon: soon(&rows, cols.start, (g, h)) });
                }
                let blocks = SUPER_BLOCK.min(weight.cols - g * SUPER_BLOCK) / F::PER_SCALE;
                for t in tokens.clone().step_by(TOKENS) {
                    let sums = &mut sums[t - first..];
                    for next in (t + TOKENS..tokens.end).take(TOKENS) {
                        fetch(&x.int8_row(next)[g]);
                    }
                    let super_block = |n: usize| &x.int8_row(t + n)[g];
                    match tokens.end - t {
                        1 => {
                            add::<F, 1>(&panels, super_block, blocks, sums);
                        }
                        2 => {
                            add::<F, 2>(&panels, super_block, blocks, sums);
                        }
                        3 => {
                            add::<F, 3>(&panels, super_block, blocks, sums);
                        }
                        4 => {
                            add::<F, 4>(&panels, super_block, blocks, sums);
                        }
                        5 => {
                            add::<F, 5>(&panels, super_block, blocks, sums);
                        }
                        _ => add::<F, TOKENS>(&panels, super_block, blocks, sums),
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
