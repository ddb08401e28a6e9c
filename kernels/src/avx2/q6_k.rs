//! `Q6_K`: half a byte holds four bits of a code, and two more are stored elsewhere. Codes are
//! stored with 32 added. Every 16 weights share a scale.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    few,
    lanes::{halves, load, load_half, part},
    many,
    super_blocks::{self, Head},
};
use crate::{format::Q6_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q6_K.block_bytes();

/// Multiplies by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q6_K>(head(block), |half| codes(bytes(block, half)), x, sum)
    });
}

/// Multiplies by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::super_blocks::<Q6_K, BYTES, 3>(
        weight,
        x,
        tile,
        |block| head(block),
        |block, half| bytes(block, half),
        |bytes| codes(bytes),
    );
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn head(block: &[u8; BYTES]) -> Head {
    Head {
        scales: _mm256_cvtepi8_epi16(load_half(part(block, 192))),
        minimums: _mm256_setzero_si256(),
        d: halves(*part(block, 208)),
        dmin: _mm256_setzero_ps(),
    }
}

/// Loads the bytes of the 128 codes of a block's first half (`half` is 0) or second half (1): two
/// registers with the lower four bits, then one with the upper two.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes(block: &[u8; BYTES], half: usize) -> [__m256i; 3] {
    let bytes: &[[u8; 32]] = block[..192].as_chunks().0;
    [load(&bytes[2 * half]), load(&bytes[2 * half + 1]), load(&bytes[4 + half])]
}

/// Returns the codes in bytes from [`bytes()`].
#[inline]
#[target_feature(enable = "avx2")]
fn codes([first, second, upper]: [__m256i; 3]) -> [__m256i; 4] {
    let four = _mm256_set1_epi8(15);
    let two = _mm256_set1_epi8(0x30);
    let code = |low: __m256i, upper: __m256i| {
        _mm256_or_si256(_mm256_and_si256(low, four), _mm256_and_si256(upper, two))
    };
    [
        code(first, _mm256_slli_epi16::<4>(upper)),
        code(second, _mm256_slli_epi16::<2>(upper)),
        code(_mm256_srli_epi16::<4>(first), upper),
        code(_mm256_srli_epi16::<4>(second), _mm256_srli_epi16::<2>(upper)),
    ]
}
