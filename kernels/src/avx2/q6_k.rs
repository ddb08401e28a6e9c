//! `Q6_K`: half a byte holds four bits of a code, and two more are stored elsewhere. Codes are
//! stored with 32 added. Every 16 weights share a scale.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights::{self, Heads},
    few,
    lanes::{halves, load, load_half, part},
    many,
    super_blocks::{self, Head},
};
use crate::{format::Q6_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q6_K.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q6_K>(head(block), |half| codes(bytes(block, half)), x, sum)
    });
}

/// Multiplies weights by many rows of activations.
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

/// Unpacks the codes from the registers that [`bytes()`] returns.
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

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::super_blocks::<Q6_K, { 8 * BYTES }>(
        weight,
        x,
        tile,
        |block| heads(block),
        |block, j| codes_of_eight(block, j),
    );
}

/// Unpacks the scales of a block of each of eight rows.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn heads(block: &[u8]) -> Heads {
    let d = eights::halves::<{ 8 * 208 }>(block);
    let mut heads = Heads {
        d,
        dmin: d,
        scales: [_mm256_setzero_si256(); 16],
        minimums: [_mm256_setzero_si256(); 8],
    };
    for j in 0..8 {
        let words = eights::words::<{ 8 * 192 }>(block, j / 2);
        let [first, second] = [2 * j as i32 % 4, 2 * j as i32 % 4 + 1];
        heads.scales[2 * j] = _mm256_srai_epi16::<8>(eights::upper_bytes(words, [first; 2]));
        heads.scales[2 * j + 1] = _mm256_srai_epi16::<8>(eights::upper_bytes(words, [second; 2]));
        // The offset of the codes is subtracted as a minimum of `32 · scale`.
        heads.minimums[j] = _mm256_srai_epi16::<3>(eights::upper_bytes(words, [first, second]));
    }
    heads
}

/// Returns codes `32j…32j + 31` of each of eight rows.
#[inline]
#[target_feature(enable = "avx2")]
fn codes_of_eight(block: &[u8], j: usize) -> [__m256i; 8] {
    let mut codes = [_mm256_setzero_si256(); 8];
    // The shifts must be constants, and each quarter has its own, so this is a macro.
    macro_rules! quarter {
        ($quarter:literal, $low:expr, $upper:expr) => {
            for (k, code) in codes.iter_mut().enumerate() {
                let low = eights::words::<0>(block, 16 * (j / 4) + 8 * ($quarter % 2) + k);
                let upper = eights::words::<{ 8 * 128 }>(block, 8 * (j / 4) + k);
                let low = _mm256_and_si256($low(low), _mm256_set1_epi8(15));
                let upper = _mm256_and_si256($upper(upper), _mm256_set1_epi8(0x30));
                *code = _mm256_or_si256(low, upper);
            }
        };
    }
    match j % 4 {
        0 => quarter!(0, |low| low, _mm256_slli_epi16::<4>),
        1 => quarter!(1, |low| low, _mm256_slli_epi16::<2>),
        2 => quarter!(2, _mm256_srli_epi16::<4>, |upper| upper),
        _ => quarter!(3, _mm256_srli_epi16::<4>, _mm256_srli_epi16::<2>),
    }
    codes
}
