//! Matrix–vector products for kernels that are tasks of the course. For each row of activations,
//! weights are read once, in order.

use std::arch::aarch64::*;

use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
};

/// Computes a tile of the output. `dot` must multiply at most `BLOCKS` blocks by a super-block of
/// activations and by the scales of both, and return the products added in four lanes.
///
/// # Safety
/// The processor must have NEON.
#[inline]
#[target_feature(enable = "neon")]
pub fn rows<const BYTES: usize, const BLOCKS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    dot: impl Fn(&[[u8; BYTES]], &Int8SuperBlock) -> float32x4_t,
) {
    for t in tile.rows() {
        let x = x.int8_row(t);
        for (i, r) in tile.cols().enumerate() {
            let mut acc = vdupq_n_f32(0.0);
            let blocks: &[[u8; BYTES]] = weight.row(r).as_chunks().0;
            for (blocks, x) in blocks.chunks(BLOCKS).zip(x) {
                // The length is a constant, so that the loop over blocks is unrolled.
                let products = match <&[[u8; BYTES]; BLOCKS]>::try_from(blocks) {
                    Ok(all) => dot(all, x),
                    Err(_) => dot(blocks, x),
                };
                acc = vaddq_f32(products, acc);
            }
            tile.row_mut(t)[i] = vaddvq_f32(acc);
        }
    }
}
