//! `Q8_0`: codes are signed bytes. If a learner has written a kernel for a few rows of activations,
//! that kernel replaces `few`.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns::{self, COLUMNS, Columns},
    eights, few,
    lanes::{load, load_signed, part},
};
use crate::{
    format::{Format, Q8_0, Zero},
    input::Input,
    matrix::Matrix,
    parallel::Tile,
};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q8_0.block_bytes();

/// `Q8_0` in the kernel for a few rows of activations, where codes keep their signs.
struct Signed;

impl Format for Signed {
    const TYPE: TensorType = TensorType::Q8_0;
    const PER_SCALE: usize = 32;
    const ZERO: Zero = Zero::Offset(0);
    const HIGHEST: u8 = 127;
}

/// Multiplies weights by a few rows of activations. Adds in the same order as [`many()`].
///
/// `maddubs` needs one unsigned factor: |weight|. The weight's sign is moved to the activation. The
/// sum of two products is at most 2 · 128 · 127, which fits in i16.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<Signed, BYTES>(row, x, sum, |block, p| {
            let q = load(part(block, 2));
            fours(_mm256_abs_epi8(q), _mm256_sign_epi8(load_signed(p), q))
        })
    });
}

/// Multiplies weights by many rows of activations. Adds 128 to each code to make it unsigned, and
/// splits it into two 4-bit parts, which are multiplied one after the other. So sums of several
/// products of a part fit into 16 bits.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let bytes = |block: &[u8; BYTES]| load(part(block, 2));
    columns::multiply::<Q8_0, BYTES, 2>(weight, x, tile, bytes, |codes| split(codes));
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::blocks::<Q8_0, { 8 * BYTES }, 2>(weight, x, tile, |block| {
        let mut planes = [[_mm256_setzero_si256(); COLUMNS]; 2];
        for k in 0..COLUMNS {
            [planes[0][k], planes[1][k]] = split(eights::words::<16>(block, k));
        }
        Columns { codes: planes, scales: eights::halves::<0>(block), minimums: _mm256_setzero_ps() }
    });
}

/// Adds 128 to each code, and returns the lower four bits and the upper four.
#[inline]
#[target_feature(enable = "avx2")]
fn split(codes: __m256i) -> [__m256i; 2] {
    let four = _mm256_set1_epi8(15);
    let codes = _mm256_xor_si256(codes, _mm256_set1_epi8(-128));
    [_mm256_and_si256(codes, four), _mm256_and_si256(_mm256_srli_epi16::<4>(codes), four)]
}
