//! Products of a matrix with one row of activations (matrix–vector, decode) or with many rows
//! (matrix–matrix, prefill).
//!
//! Unpacking the codes from their blocks would be most of the work if it were repeated for every
//! row of activations. So with many rows, each weight row is unpacked once, into codes of one byte,
//! and multiplied by every row of activations.
//!
//! Tasks here: week2-day5 task 4 (`matrix_vector`, `dot_unpacked`, `matrix_matrix`). Everything
//! else is provided.

pub use tiny_llm_kernels::unpacked::Unpacked;
use tiny_llm_kernels::unpacked::unpack_row;

use super::integer;
use crate::week2::{
    input::{Input, Int8SuperBlock, SUM},
    matrix::Matrix,
    parallel::Tile,
};

/// Multiplies each weight row `r` by `x`, one row of activations: `out[r] = row r · x`. The
/// iterator `rows` returns the weight rows in order. Reads each of them once.
///
/// Computes each product with `dot`, one of the functions in [`integer`]. Shapes:
/// `x [super_blocks]`, `out [weight rows]`.
pub fn matrix_vector<'a>(
    dot: impl Fn(&[u8], &[Int8SuperBlock]) -> f32,
    rows: impl Iterator<Item = &'a [u8]>,
    x: &[Int8SuperBlock],
    out: &mut [f32],
) {
    todo!("week2-day5 task 4: matrix_vector")
}

/// Computes `Σ w·x` for an unpacked weight row and a row of activations. Both have the same number
/// of super-blocks. In a super-block, every 16 codes form a group. The activations of group `g`
/// have the scale `x.scales[g / 2]` and the sum `x.sums[g]`.
#[must_use]
pub fn dot_unpacked(row: &[Unpacked], x: &[Int8SuperBlock]) -> f32 {
    todo!("week2-day5 task 4: dot_unpacked")
}

/// Computes `tile[t, r] = Σ weight[r, c] · x[t, c]` for the tile's rows `t` and columns `r`. Each
/// weight row is unpacked once for all rows of activations.
///
/// `unpack` unpacks the blocks of one weight row into `x.super_blocks()` super-blocks.
pub fn matrix_matrix(
    mut unpack: impl FnMut(&[u8], &mut [Unpacked]),
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    todo!("week2-day5 task 4: matrix_matrix")
}

/// Computes a tile of the output. See [`super::Kernel`]. Supports all formats of the integer rung
/// (the scalar kernels that multiply integers). For a single row of activations, calls the function
/// that [`integer::dot`] returns. For more rows, unpacks the weight rows. If [`integer::dot`]
/// returns `None` (for formats that no day teaches), unpacks them for a single row too.
pub fn kernel(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    match integer::dot(weight.tensor_type) {
        Some(dot) if tile.rows().len() == 1 => {
            let rows = tile.cols().map(|r| weight.row(r));
            let t = tile.rows().start;
            matrix_vector(dot, rows, x.int8_row(t), tile.row_mut(t));
        }
        _ => kernel_for_many(weight, x, tile),
    }
}

/// Like [`kernel`], but always unpacks. So additions have the same order for any number of rows.
/// The functions that [`integer::dot`] returns may add in a different order.
pub fn kernel_for_many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    matrix_matrix(|bytes, row| unpack_row(weight.tensor_type, bytes, row), weight, x, tile);
}
