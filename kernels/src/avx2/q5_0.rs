//! `Q5_0`: half a byte holds a code's low four bits, and a separate 32-bit word holds the fifth
//! bits of all 32 codes. Codes are stored with 16 added.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks::{self, fours},
    columns::{self, Columns},
    eights, few,
    lanes::{load_signed, nibbles, part, with_fifth},
};
use crate::{format::Q5_0, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_0.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 8>(weight, x, tile, |row, x, sum| {
        blocks::dot::<Q5_0, BYTES>(row, x, sum, |block, p| fours(codes(block), load_signed(p)))
    });
}

/// Multiplies weights by many rows of activations.
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

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::blocks::<Q5_0, { 8 * BYTES }, 1>(weight, x, tile, |block| {
        let mut codes = eights::nibbles::<48>(block);
        let fifth = eights::words::<16>(block, 0);
        for (k, codes) in codes.iter_mut().enumerate() {
            // Byte i of a lane needs bit 4k + i, which byte k / 2 holds.
            let bits = _mm256_srli_epi16::<8>(eights::upper_bytes(fifth, [k as i32 / 2; 2]));
            let bits = _mm256_or_si256(bits, _mm256_slli_epi16::<8>(bits));
            let own = _mm256_set1_epi32(0x0804_0201 << (4 * (k % 2)));
            let set = _mm256_cmpeq_epi8(_mm256_and_si256(bits, own), own);
            *codes = _mm256_or_si256(*codes, _mm256_and_si256(set, _mm256_set1_epi8(16)));
        }
        Columns {
            codes: [codes],
            scales: eights::halves::<0>(block),
            minimums: _mm256_setzero_ps(),
        }
    });
}
