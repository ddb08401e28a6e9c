//! Matrix–vector: weights are read once, in order, and asked for before they are needed.

use std::arch::x86_64::*;

use super::lanes::sum;
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
};

/// Products of rows of blocks, `BLOCKS` of which meet a super-block: `add` has the sum so far in
/// its first lane, and adds a super-block to it. The order of additions is the caller's.
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
                // Of a constant length, so that the loop over blocks is unrolled.
                sum = match <&[[u8; BYTES]; BLOCKS]>::try_from(blocks) {
                    Ok(all) => add(all, x, sum),
                    Err(_) => add(blocks, x, sum),
                };
            }
            tile.row_mut(t)[i] = _mm_cvtss_f32(sum);
        }
    }
}

/// Products of rows of blocks, `BLOCKS` of which meet a super-block; `dot` multiplies with its
/// scales too, and leaves eight lanes, which are added up at the end: for products that the course
/// writes.
///
/// # Safety
/// The machine has AVX2 and FMA.
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
                // Of a constant length, so that the loop over blocks is unrolled.
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
