//! `Q4_1`: a byte holds two codes. Each block has a scale and a minimum.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns::{self, Columns},
    eights, few,
    lanes::{load_signed, nibbles, part},
};
use crate::{format::Q4_1, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q4_1.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<Q4_1, BYTES>(row, x, sum, |block, p| fours(codes(block), load_signed(p)))
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    columns::multiply::<Q4_1, BYTES, 1>(weight, x, tile, |block| codes(block), |codes| [codes]);
}

/// Returns the 32 codes of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    nibbles(part(block, 4))
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::blocks::<Q4_1, { 8 * BYTES }, 1>(weight, x, tile, |block| Columns {
        codes: [eights::nibbles::<32>(block)],
        scales: eights::halves::<0>(block),
        minimums: eights::halves::<16>(block),
    });
}
