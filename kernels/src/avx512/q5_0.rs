//! `Q5_0`: half a byte holds a code's low four bits, and a separate 32-bit word holds the fifth
//! bits of all 32 codes. Codes are stored with 16 added.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    words::Blocks,
};
use crate::{format::Q5_0, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_0.block_bytes();
/// Number of bytes of a block before the codes.
const HEAD: usize = 6;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q5_0, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q5_0>(weight, x, tile, |panel, rows| {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, HEAD>(bytes);
    let (scales, bits) = blocks.scales_and::<2, 2>();
    Eight { codes: blocks.nibbles_and(bits), scales, minimums: _mm512_setzero_ps() }
}
