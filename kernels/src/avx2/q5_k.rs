//! `Q5_K`: like `Q4_K`, with a fifth bit.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights, few,
    lanes::{load, part},
    many,
    q4_k::{codes_of_eight, head, heads, nibbles},
    super_blocks,
};
use crate::{format::Q5_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_K.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q5_K>(head(block), |half| codes(block, half), x, sum)
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::super_blocks::<Q5_K, BYTES, 4>(
        weight,
        x,
        tile,
        |block| head(block),
        |block, half| codes(block, half),
        |codes| codes,
    );
}

/// Returns the 128 codes of a block's first half (`half` is 0) or second half (1).
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES], half: usize) -> [__m256i; 4] {
    let low = nibbles(load(part(block, 48 + 64 * half)), load(part(block, 80 + 64 * half)));
    // Bit j of byte i belongs to weight i of sub-block j.
    let fifth = load(part(block, 16));
    let fifth = if half == 0 { fifth } else { _mm256_srli_epi16::<4>(fifth) };
    let sixteen = _mm256_set1_epi8(16);
    let with =
        |codes: __m256i, bits: __m256i| _mm256_or_si256(codes, _mm256_and_si256(bits, sixteen));
    [
        with(low[0], _mm256_slli_epi16::<4>(fifth)),
        with(low[1], _mm256_slli_epi16::<3>(fifth)),
        with(low[2], _mm256_slli_epi16::<2>(fifth)),
        with(low[3], _mm256_slli_epi16::<1>(fifth)),
    ]
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::super_blocks::<Q5_K, { 8 * BYTES }>(
        weight,
        x,
        tile,
        |block| heads(block),
        |block, j| {
            let mut codes = codes_of_eight::<{ 8 * 48 }>(block, j);
            let shift = _mm_cvtsi32_si128(j as i32);
            for (k, codes) in codes.iter_mut().enumerate() {
                // Bit j of byte i belongs to weight i of sub-block j.
                let fifth = _mm256_srl_epi16(eights::words::<{ 8 * 16 }>(block, k), shift);
                let fifth = _mm256_and_si256(fifth, _mm256_set1_epi8(1));
                *codes = _mm256_or_si256(*codes, _mm256_slli_epi16::<4>(fifth));
            }
            codes
        },
    );
}
