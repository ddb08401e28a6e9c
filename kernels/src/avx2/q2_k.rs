//! `Q2_K`: a byte holds four codes. Every 16 weights share a scale and a minimum of 4 bits.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    few,
    lanes::{halves, load, load_half, part},
    many,
    super_blocks::{self, Head},
};
use crate::{format::Q2_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q2_K.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q2_K>(head(block), |half| codes(block, half), x, sum)
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::super_blocks::<Q2_K, BYTES, 4>(
        weight,
        x,
        tile,
        |block| head(block),
        |block, half| codes(block, half),
        |codes| codes,
    );
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn head(block: &[u8; BYTES]) -> Head {
    let both = load_half(part(block, 0));
    let low = _mm_set1_epi8(15);
    Head {
        scales: _mm256_cvtepu8_epi16(_mm_and_si128(both, low)),
        minimums: _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16::<4>(both), low)),
        d: halves(*part(block, 80)),
        dmin: halves(*part(block, 82)),
    }
}

/// Returns the 128 codes of a block's first half (`half` is 0) or second half (1).
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES], half: usize) -> [__m256i; 4] {
    two_bits(load(part(block, 16 + 32 * half)))
}

/// Unpacks the four codes of each byte.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn two_bits(bytes: __m256i) -> [__m256i; 4] {
    let low = _mm256_set1_epi8(3);
    [
        _mm256_and_si256(bytes, low),
        _mm256_and_si256(_mm256_srli_epi16::<2>(bytes), low),
        _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low),
        _mm256_and_si256(_mm256_srli_epi16::<6>(bytes), low),
    ]
}
