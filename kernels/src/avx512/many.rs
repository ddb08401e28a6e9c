//! Products for many rows of activations: unpacks 32 rows of weights once, 256 columns at a time,
//! and multiplies them by all rows. The sums of 2 panels and 6 rows of activations stay in
//! registers.

use std::{arch::x86_64::*, ops::Range};

use super::{
    panel::{LANES, Panel, Rows, Soon},
    product::{add, store},
};
use crate::{
    format::Format,
    input::{Input, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{LINE, fetch_value},
};

/// Number of rows of activations whose sums are in registers at the same time.
const TOKENS: usize = 6;
/// Maximum number of rows of activations that are multiplied each time weights are unpacked.
const CHUNK: usize = 256;
/// Number of rows of activations above which multiplying a panel takes longer than reading its
/// weights from memory.
const SOON: usize = 64;

/// The part of the weights that a panel holds.
pub(super) struct Place {
    /// The rows of weights of both panels.
    pub(super) rows: Range<usize>,
    /// 0 for the panel of the first 16 rows, 1 for the other panel.
    pub(super) half: usize,
    /// The index of the super-block.
    pub(super) super_block: usize,
    /// Number of rows of activations by which the panel is multiplied.
    pub(super) tokens: usize,
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). `fill` must unpack 16 rows into a
/// panel. It receives the bytes of 256 columns of each row, or of all remaining columns.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    fill: impl Fn(&mut Panel, &Rows),
) {
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let super_block_bytes = super_block_bytes(weight);
    // The memory to prefetch while a panel is filled. With only a few rows of activations, reading
    // takes longer than a panel's products, so the next rows of weights are prefetched in memory
    // order. With many rows, only the next columns of the same rows are prefetched, because data
    // that is prefetched earlier would be evicted before it is used.
    let soon = |rows: &[&[u8]; LANES], place: &Place| {
        let (g, h) = (place.super_block, place.half);
        if place.tokens > SOON && g + 1 < x.super_blocks() {
            let from = rows[0].as_ptr().wrapping_add(super_block_bytes);
            return Soon { from, apart: row_bytes, sixteen_apart: LINE };
        }
        let row = place.rows.start + 2 * LANES;
        let at = row * row_bytes + (2 * g + h) * LANES * super_block_bytes;
        let from = bytes.as_ptr().wrapping_add(at);
        Soon { from, apart: LINE, sixteen_apart: LANES * LINE }
    };
    each_panel::<F>(weight, x, tile, |panel, place| {
        let slice = |row: usize| {
            let row = &bytes[row * row_bytes..][..row_bytes];
            let from = place.super_block * super_block_bytes;
            &row[from..row_bytes.min(from + super_block_bytes)]
        };
        // Rows past the end of the tile repeat its last row. Their results aren't written.
        let row = |i: usize| (place.rows.start + place.half * LANES + i).min(place.rows.end - 1);
        let mut rows = [&bytes[..0]; LANES];
        for i in 0..LANES {
            rows[i] = slice(row(i));
        }
        fill(panel, &Rows { rows, soon: soon(&rows, &place) });
    });
}

/// Returns the number of bytes of 256 columns of a row.
pub(super) fn super_block_bytes(weight: &Matrix) -> usize {
    SUPER_BLOCK / weight.tensor_type.block_len() * weight.tensor_type.block_bytes()
}

/// Computes a tile of the output. `fill` must unpack the weights at a [`Place`] into a panel: 16
/// rows of 256 columns, or of all remaining columns.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn each_panel<F: Format>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    fill: impl Fn(&mut Panel, Place),
) {
    let mut panels = [Panel::zeros(); 2];
    // In the output, the sums that a column has for neighbouring rows of activations are so far
    // apart that the cache can hold only a few of them. Here they are contiguous.
    let mut sums = [[_mm512_setzero_ps(); 2]; CHUNK];
    for first in tile.rows().step_by(CHUNK) {
        let tokens = first..tile.rows().end.min(first + CHUNK);
        for col in tile.cols().step_by(2 * LANES) {
            let cols = col..tile.cols().end.min(col + 2 * LANES);
            sums[..tokens.len()].fill([_mm512_setzero_ps(); 2]);
            for g in 0..x.super_blocks() {
                for (half, panel) in panels.iter_mut().enumerate() {
                    let (rows, tokens) = (cols.clone(), tokens.len());
                    fill(panel, Place { rows, half, super_block: g, tokens });
                }
                let blocks = SUPER_BLOCK.min(weight.cols - g * SUPER_BLOCK) / F::PER_SCALE;
                for t in tokens.clone().step_by(TOKENS) {
                    let sums = &mut sums[t - first..];
                    for next in (t + TOKENS..tokens.end).take(TOKENS) {
                        fetch_value(&x.int8_row(next)[g]);
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
