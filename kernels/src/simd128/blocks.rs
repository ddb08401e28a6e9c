//! Rows of activations times blocks of 32 weights. Activations are loaded once for four rows of
//! weights.

use std::{arch::wasm32::*, array};

use half::f16;

use super::lanes::{load_signed, sum, widen};
use crate::{
    input::{BLOCK, Input, Int8SuperBlock, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    streams::{STREAMS, each_four},
};

/// A format with blocks of 32 weights, each `d · code`. A block has `BYTES` bytes and begins with
/// `d`.
pub(super) trait Blocks<const BYTES: usize> {
    /// Returns the codes as signed bytes.
    fn codes(block: &[u8; BYTES]) -> [v128; 2];
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). The result for a row of
/// activations does not depend on the other rows.
pub(super) fn product<const BYTES: usize, F: Blocks<BYTES>>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
) {
    each_four(weight, tile, |rows, t| dot::<BYTES, F>(rows, x.int8_row(t)));
}

/// Multiplies four rows of weights by one row of activations.
#[inline(always)]
fn dot<const BYTES: usize, F: Blocks<BYTES>>(
    rows: [&[u8]; STREAMS],
    x: &[Int8SuperBlock],
) -> [f32; STREAMS] {
    const BLOCKS: usize = SUPER_BLOCK / BLOCK;
    let rows = rows.map(|row| row.as_chunks::<BYTES>().0);
    let blocks = rows.iter().fold(usize::MAX, |n, row| n.min(row.len()));
    let mut acc = [f32x4_splat(0.0); STREAMS];
    for b in 0..blocks {
        let (x, i) = (&x[b / BLOCKS], b % BLOCKS);
        let values = x.values.as_chunks().0;
        let values = [widen(load_signed(&values[2 * i])), widen(load_signed(&values[2 * i + 1]))];
        for s in 0..STREAMS {
            let block = &rows[s][b];
            let codes = F::codes(block).map(widen);
            let products: [v128; 2] = array::from_fn(|h| {
                i32x4_add(
                    i32x4_dot_i16x8(codes[h][0], values[h][0]),
                    i32x4_dot_i16x8(codes[h][1], values[h][1]),
                )
            });
            let products = f32x4_convert_i32x4(i32x4_add(products[0], products[1]));
            let d = f16::from_le_bytes([block[0], block[1]]).to_f32();
            acc[s] = f32x4_add(acc[s], f32x4_mul(products, f32x4_splat(d * x.scales[i])));
        }
    }
    acc.map(sum)
}
