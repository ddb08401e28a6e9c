//! The first rung of the ladder of kernels: decodes each weight row to a buffer, then multiplies
//! the buffer by the activations. This takes two passes over memory.

use crate::week2::{blocks::dequantize_row, input::Input, matrix::Matrix, parallel::Tile};

/// Decodes row `r` of `weight` to f32: `out [cols]`.
pub fn decode_row(weight: &Matrix, r: usize, out: &mut [f32]) {
    dequantize_row(weight.tensor_type, weight.row(r), out);
}

/// Computes a tile of the output, as specified by [`crate::week2::kernels::Kernel`].
pub fn kernel(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let mut row = vec![0.0; weight.cols];
    for (i, r) in tile.cols().enumerate() {
        decode_row(weight, r, &mut row);
        for t in tile.rows() {
            tile.row_mut(t)[i] = row.iter().zip(x.row(t)).map(|(w, x)| w * x).sum();
        }
    }
}
