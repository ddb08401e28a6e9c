//! `Q3_K`: a quarter of a byte holds two bits of a code, and the third bit is stored elsewhere.
//! Codes are stored with 4 added. Every 16 weights share a scale of 6 bits.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    few,
    lanes::{halves, load, load_half, part},
    many,
    q2_k::two_bits,
    super_blocks::{self, Head},
};
use crate::{blocks::q3_k, format::Q3_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q3_K.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q3_K>(head(block), |half| codes(block, half), x, sum)
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::super_blocks::<Q3_K, BYTES, 4>(
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
    let scales = bytemuck::cast(q3_k::scales(part(block, 96)));
    Head {
        scales: _mm256_cvtepi8_epi16(load_half(&scales)),
        minimums: _mm256_setzero_si256(),
        d: halves(*part(block, 108)),
        dmin: _mm256_setzero_ps(),
    }
}

/// Returns the 128 codes of a block's first half (`half` is 0) or second half (1).
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES], half: usize) -> [__m256i; 4] {
    let low = two_bits(load(part(block, 32 + 32 * half)));
    // Bit j of byte i belongs to weight 32j + i.
    let third = load(part(block, 0));
    let third = if half == 0 { third } else { _mm256_srli_epi16::<4>(third) };
    let four = _mm256_set1_epi8(4);
    let with = |codes: __m256i, bits: __m256i| _mm256_or_si256(codes, _mm256_and_si256(bits, four));
    [
        with(low[0], _mm256_slli_epi16::<2>(third)),
        with(low[1], _mm256_slli_epi16::<1>(third)),
        with(low[2], third),
        with(low[3], _mm256_srli_epi16::<1>(third)),
    ]
}
