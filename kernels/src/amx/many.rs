//! Many rows of activations: 32 rows of weights are unpacked once, 256 columns at a time, and
//! multiplied with all of them, 16 at a time.

use super::{
    activations::Int8Tile,
    blocks::{self, BLOCKS, BlockSums},
    panel::{Panel, Source},
    sixteen::Sixteen,
    unit::{SIDE, Sums, Unit},
};
use crate::{format::Format, input::{BLOCK, GROUP, Input}, matrix::Matrix, parallel::Tile};

/// Tiles of activations for which weights are unpacked once: as many as the second-level cache
/// holds.
const CHUNK: usize = 32;

/// The outputs of 32 rows of weights for 16 rows of activations.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Outputs(pub(super) [[[f32; SIDE]; SIDE]; 2]);

impl Outputs {
    const ZEROS: Self = Self([[[0.0; SIDE]; SIDE]; 2]);
}

/// A [`Kernel`](crate::Kernel).
#[inline(always)]
pub(super) fn multiply<F: Format, V: Sixteen, U: Unit>(
    unit: &mut U,
    source: &impl Source,
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    let mut panels = [Panel::ZEROS; 2];
    let mut sums = [[Sums::ZEROS; 2]; BLOCKS];
    let mut outputs = [Outputs::ZEROS; CHUNK];
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let group_bytes = GROUP / weight.tensor_type.block_len() * weight.tensor_type.block_bytes();
    assert!(tile.rows().start.is_multiple_of(SIDE), "tiles of activations begin with a tile");
    for first in tile.rows().step_by(CHUNK * SIDE) {
        let tokens = first..tile.rows().end.min(first + CHUNK * SIDE);
        let tiles = tokens.len().div_ceil(SIDE);
        for col in tile.cols().step_by(2 * SIDE) {
            let cols = col..tile.cols().end.min(col + 2 * SIDE);
            outputs[..tiles].fill(Outputs::ZEROS);
            for g in 0..x.groups() {
                for (h, panel) in panels.iter_mut().enumerate() {
                    // Rows beyond the tile's repeat its last one; what becomes of them is not
                    // written.
                    let rows = std::array::from_fn(|i| {
                        let row = (cols.start + h * SIDE + i).min(cols.end - 1);
                        let row = &bytes[row * row_bytes..][..row_bytes];
                        &row[g * group_bytes..row_bytes.min((g + 1) * group_bytes)]
                    });
                    // What is read of these rows is asked for of the next: they follow in memory.
                    source.fill(panel, rows, 2 * SIDE * row_bytes);
                }
                let blocks = (weight.cols - g * GROUP).min(GROUP) / BLOCK;
                let x = |t: usize| &x.tiles[(first / SIDE + t) * x.groups() + g];
                add::<F, V, U>(unit, &panels, x, blocks, &mut sums, &mut outputs[..tiles]);
            }
            let from = cols.start - tile.cols().start;
            for (t, outputs) in outputs[..tiles].iter().enumerate() {
                for (h, outputs) in outputs.0.iter().enumerate() {
                    let turned = V::turned(outputs);
                    let here = h * SIDE..cols.len().min((h + 1) * SIDE);
                    if here.is_empty() {
                        continue;
                    }
                    for n in 0..SIDE.min(tokens.len() - t * SIDE) {
                        let out = &mut tile.row_mut(first + t * SIDE + n)[from..];
                        out[here.clone()].copy_from_slice(&turned[n][..here.len()]);
                    }
                }
            }
        }
    }
}

/// Adds the products of two panels and some tiles of activations, of `blocks` blocks of each, to the
/// outputs.
#[inline(always)]
fn add<'x, F: Format, V: Sixteen, U: Unit>(
    unit: &mut U,
    panels: &[Panel; 2],
    x: impl Fn(usize) -> &'x Int8Tile,
    blocks: usize,
    sums: &mut BlockSums,
    outputs: &mut [Outputs],
) {
    for t in 0..outputs.len() {
        let next = (t + 1).min(outputs.len() - 1);
        let (now, soon) = (x(t), x(next));
        for block in 0..blocks {
            V::fetch::<[[i8; 64]; BLOCK / 4]>(soon.values[BLOCK / 4 * block..].first_chunk().expect("a block"));
            V::fetch(&soon.scales[block]);
            V::fetch::<[[f32; SIDE]; 4]>(outputs[next].0[block / 4][block % 4 * 4..].first_chunk().expect("four"));
            blocks::multiply(unit, panels, now, block, sums);
        }
        blocks::scale::<F, V>(sums, panels, now, blocks, &mut outputs[t]);
    }
}
