//! `MXFP4`: a byte holds two codes, each looked up in a table of 16. The scale is a power of two.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns, few,
    lanes::{load_half, load_signed, nibbles, part},
};
use crate::{
    blocks::mxfp4::ABOVE_ZERO, format::MXFP4, input::Input, matrix::Matrix, parallel::Tile,
};

/// Size of a block in bytes.
const BYTES: usize = TensorType::MXFP4.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<MXFP4, BYTES>(row, x, sum, |block, p| fours(codes(block), load_signed(p)))
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    columns::multiply::<MXFP4, BYTES, 1>(weight, x, tile, |block| codes(block), |codes| [codes]);
}

/// Returns the 32 codes of a block, after the look-up.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES]) -> __m256i {
    let table = _mm256_broadcastsi128_si256(load_half(&ABOVE_ZERO));
    _mm256_shuffle_epi8(table, nibbles(part(block, 1)))
}
