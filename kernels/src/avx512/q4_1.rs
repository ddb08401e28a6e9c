//! [`Q4_1`](crate::blocks::q4_1): a byte holds two codes. Each block has a scale and a minimum.

use std::arch::x86_64::*;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    panel::LANES,
    side_by_side,
    sixteen_rows::{halves, nibble, word},
    words::Blocks,
};
use crate::{blocks::q4_1::BYTES, format::Q4_1, input::Input, matrix::Matrix, parallel::Tile};

/// Number of bytes before the codes in a block.
const HEAD: usize = 4;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q4_1, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q4_1>(weight, x, tile, |panel, rows| {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, HEAD>(bytes);
    let (scales, minimums) = blocks.scales_and::<2, 0>();
    Eight { codes: blocks.nibbles(), scales, minimums: _mm512_cvtph_ps(minimums) }
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q4_1, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, i, block| {
            factors.scales[2 * i] = halves::<0>(block);
            factors.minimums[2 * i] = halves::<{ LANES * 2 }>(block);
        },
        |block, i| nibble(word::<{ LANES * HEAD }>(block, i % 4), i / 4),
    );
}
