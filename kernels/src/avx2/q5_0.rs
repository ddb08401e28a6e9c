//! `Q5_0`: half a byte holds a code's low four bits, and a separate 32-bit word holds the fifth
//! bits of all 32 codes. Codes are stored with 16 added.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns, few,
    lanes::{load_signed, nibbles, part, with_fifth},
};
use crate::{format::Q5_0, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_0.block_bytes();

/// Multiplies by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<Q5_0, BYTES>(row, x, sum, |block, p| fours(codes(block), load_signed(p)))
    });
}

/// Multiplies by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    columns::multiply::<Q5_0, BYTES, 1>(weight, x, tile, |block| codes(block), |codes| [codes]);
}

/// Returns the 32 codes of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    with_fifth(nibbles(part(block, 6)), *part(block, 2))
}
