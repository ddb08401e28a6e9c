//! Matrix–vector products: for each row of activations, weights are read once, in order, and
//! prefetched.

use std::arch::x86_64::*;

use super::lanes::sum;
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
};

/// Multiplies rows of blocks by activations, `BLOCKS` blocks per super-block. `add` must add a
/// super-block's products to the first lane of the running sum. So `add` determines the order of
/// additions.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn in_order<const BYTES: usize, const BLOCKS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    add: impl Fn(&[[u8; BYTES]], &Int8SuperBlock, __m128) -> __m128,
) {
    let ahead = distance();
    for t in tile.rows() {
        let x = x.int8_row(t);
        for (i, r) in tile.cols().enumerate() {
            let mut sum = _mm_setzero_ps();
            let blocks: &[[u8; BYTES]] = weight.row(r).as_chunks().0;
            for (blocks, x) in blocks.chunks(BLOCKS).zip(x) {
                for block in blocks {
                    prefetch(block, ahead);
                }
                // The length is a constant, so that the loop over blocks is unrolled.
                sum = match <&[[u8; BYTES]; BLOCKS]>::try_from(blocks) {
                    Ok(all) => add(all, x, sum),
                    Err(_) => add(blocks, x, sum),
                };
            }
            tile.row_mut(t)[i] = _mm_cvtss_f32(sum);
        }
    }
}

/// Multiplies rows of blocks by activations, `BLOCKS` blocks per super-block, with a `dot` that a
/// learner writes as a task of the course. `dot` must return products, multiplied by their scales,
/// in eight lanes. The lanes are added at the end of a row.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub fn rows<const BYTES: usize, const BLOCKS: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    dot: impl Fn(&[[u8; BYTES]], &Int8SuperBlock) -> __m256,
) {
    let ahead = distance();
    for t in tile.rows() {
        let x = x.int8_row(t);
        for (i, r) in tile.cols().enumerate() {
            let mut acc = _mm256_setzero_ps();
            let blocks: &[[u8; BYTES]] = weight.row(r).as_chunks().0;
            for (blocks, x) in blocks.chunks(BLOCKS).zip(x) {
                for block in blocks {
                    prefetch(block, ahead);
                }
                // The length is a constant, so that the loop over blocks is unrolled.
                let products = match <&[[u8; BYTES]; BLOCKS]>::try_from(blocks) {
                    Ok(all) => dot(all, x),
                    Err(_) => dot(blocks, x),
                };
                acc = _mm256_add_ps(products, acc);
            }
            tile.row_mut(t)[i] = sum(acc);
        }
    }
}
