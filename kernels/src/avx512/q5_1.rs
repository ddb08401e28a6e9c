//! [`Q5_1`](crate::blocks::q5_1): like `Q5_0`, with a minimum instead of an offset.

use std::arch::x86_64::*;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    words::Blocks,
};
use crate::{blocks::q5_1::BYTES, format::Q5_1, input::Input, matrix::Matrix, parallel::Tile};

/// Number of bytes before the codes in a block.
const HEAD: usize = 8;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q5_1, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q5_1>(weight, x, tile, |panel, rows| {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, HEAD>(bytes);
    let (_, bits) = blocks.scales_and::<4, 2>();
    let (scales, minimums) = blocks.scales_and::<2, 0>();
    Eight { codes: blocks.nibbles_and(bits), scales, minimums: _mm512_cvtph_ps(minimums) }
}
