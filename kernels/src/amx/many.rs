//! Products for many rows of activations: unpacks 32 rows of weights once, 256 columns at a time,
//! and multiplies them by all rows of activations, 16 at a time.

use std::{mem::MaybeUninit, ops::Range};

use super::{
    activations::Int8Tile,
    panel::{Panel, Source},
    sixteen::Sixteen,
    unit::{SIDE, Shapes, Unit},
};
use crate::{
    input::{BLOCK, Input, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
};

/// Maximum number of activation tiles that are multiplied each time weights are unpacked. The L2
/// cache has room for that many.
const CHUNK: usize = 32;

/// The outputs of 32 rows of weights for 16 rows of activations.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Outputs(pub(super) [[[f32; SIDE]; SIDE]; 2]);

impl Outputs {
    const ZEROS: Self = Self([[[0.0; SIDE]; SIDE]; 2]);
}

/// A method of multiplying 256 columns of weights by activations.
pub(super) trait Plan {
    const SHAPES: Shapes;
    /// Scratch memory that is reused from tile to tile.
    type Space;
    const SPACE: Self::Space;

    /// Multiplies each of two panels by a tile of activations, and adds the products to `out`. The
    /// panels and the tile have `blocks` blocks of 32 columns.
    fn add<V: Sixteen, U: Unit>(
        unit: &mut U,
        panels: &[Panel; 2],
        x: &Int8Tile,
        blocks: usize,
        space: &mut Self::Space,
        out: &mut Outputs,
        soon: Option<Soon<'_>>,
    );
}

/// The data that is needed next. It is prefetched a few cache lines at a time during other work,
/// because a core can have only about a dozen loads of cache lines in flight.
#[derive(Clone, Copy)]
pub(super) struct Soon<'a> {
    pub(super) x: &'a Int8Tile,
    pub(super) outputs: &'a Outputs,
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[inline(always)]
pub(super) fn multiply<P: Plan, V: Sixteen, U: Unit>(
    unit: &mut U,
    source: &impl Source,
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    let (mut panels, mut space) = ([Panel::ZEROS; 2], P::SPACE);
    // Only one element per tile of activations is initialized and used.
    let mut outputs = [const { MaybeUninit::uninit() }; CHUNK];
    let (bytes, row_bytes) = (weight.bytes(), weight.row_bytes());
    let super_block_bytes =
        SUPER_BLOCK / weight.tensor_type.block_len() * weight.tensor_type.block_bytes();
    assert!(tile.rows().start.is_multiple_of(SIDE), "rows from the first of a tile on");
    unit.configure(&P::SHAPES);
    for first in tile.rows().step_by(CHUNK * SIDE) {
        let tokens = first..tile.rows().end.min(first + CHUNK * SIDE);
        let tiles = tokens.len().div_ceil(SIDE);
        for col in tile.cols().step_by(2 * SIDE) {
            let cols = col..tile.cols().end.min(col + 2 * SIDE);
            let outputs = zeros(&mut outputs[..tiles]);
            for g in 0..x.super_blocks() {
                for (h, panel) in panels.iter_mut().enumerate() {
                    let mut rows = [&bytes[..0]; SIDE];
                    for i in 0..SIDE {
                        // Rows past the end of the tile repeat its last row. Their results aren't
                        // written.
                        let row = (cols.start + h * SIDE + i).min(cols.end - 1);
                        let row = &bytes[row * row_bytes..][..row_bytes];
                        rows[i] =
                            &row[g * super_block_bytes..row_bytes.min((g + 1) * super_block_bytes)];
                    }
                    // While these rows are read, the next rows in memory are prefetched.
                    source.fill(panel, rows, 2 * SIDE * row_bytes);
                }
                let blocks = (weight.cols - g * SUPER_BLOCK).min(SUPER_BLOCK) / BLOCK;
                for t in 0..tiles {
                    let x = |t: usize| &x.tiles[(first / SIDE + t) * x.super_blocks() + g];
                    let (now, later) = outputs.split_at_mut(t + 1);
                    let soon = later.first().map(|outputs| Soon { x: x(t + 1), outputs });
                    P::add::<V, U>(unit, &panels, x(t), blocks, &mut space, &mut now[t], soon);
                }
            }
            for t in 0..tiles {
                let there = SIDE.min(tokens.len() - t * SIDE);
                write::<V>(&outputs[t], there, first + t * SIDE, &cols, tile);
            }
        }
    }
    unit.release();
}

/// Sets all outputs to zeros.
fn zeros(outputs: &mut [MaybeUninit<Outputs>]) -> &mut [Outputs] {
    outputs.fill(MaybeUninit::new(Outputs::ZEROS));
    // SAFETY: all elements have just been written, and `MaybeUninit<T>` has the layout of `T`.
    unsafe { &mut *(std::ptr::from_mut(outputs) as *mut [Outputs]) }
}

/// Writes `outputs` to columns `cols` of `tile`, for `there` rows of activations, starting at row
/// `first`.
#[inline(always)]
fn write<V: Sixteen>(
    outputs: &Outputs,
    there: usize,
    first: usize,
    cols: &Range<usize>,
    tile: &mut Tile<'_, f32>,
) {
    let from = cols.start - tile.cols().start;
    for (h, outputs) in outputs.0.iter().enumerate() {
        let turned = V::turned(outputs);
        let end = cols.len().min((h + 1) * SIDE);
        for n in 0..there {
            if h * SIDE < end {
                let out = &mut tile.row_mut(first + n)[from..][h * SIDE..end];
                match out.first_chunk_mut() {
                    // This length is known at compile time, so the copy needs no function call.
                    Some(out) => *out = turned[n],
                    None => out.copy_from_slice(&turned[n][..end - h * SIDE]),
                }
            }
        }
    }
}
