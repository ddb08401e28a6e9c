//! `Q5_1`: like `Q5_0`, with a minimum instead of an offset.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns, few,
    lanes::{load_signed, nibbles, part, with_fifth},
};
use crate::{format::Q5_1, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_1.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<Q5_1, BYTES>(row, x, sum, |block, p| fours(codes(block), load_signed(p)))
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    columns::multiply::<Q5_1, BYTES, 1>(weight, x, tile, |block| codes(block), |codes| [codes]);
}

/// Returns the 32 codes of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    with_fifth(nibbles(part(block, 8)), *part(block, 4))
}
