//! `Q5_0`: half a byte holds a code's low four bits, and a separate 32-bit word holds the fifth
//! bits of all 32 codes. Codes are stored with 16 added.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    blocks,
    columns::{COLUMNS, Eight},
    many,
    panel::LANES,
    side_by_side,
    sixteen_rows::{halves, nibble, word},
    words::Blocks,
};
use crate::{format::Q5_0, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q5_0.block_bytes();
/// Number of bytes before the codes in a block.
const HEAD: usize = 6;

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<Q5_0, BYTES, HEAD>(weight, x, tile);
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q5_0>(weight, x, tile, |panel, rows| {
        panel.fill(&COLUMNS, rows, |bytes| unpack(bytes).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn unpack(bytes: &[u8]) -> Eight {
    let blocks = Blocks::<BYTES, HEAD>(bytes);
    let (scales, bits) = blocks.scales_and::<2, 2>();
    Eight { codes: blocks.nibbles_and(bits), scales, minimums: _mm512_setzero_ps() }
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q5_0, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, i, block| factors.scales[2 * i] = halves::<0>(block),
        |block, i| {
            let code = nibble(word::<{ LANES * HEAD }>(block, i % 4), i / 4);
            // Byte j of a word needs bit 4i + j, which is in byte i / 2 of the row's fifth bits.
            let byte = _mm512_set1_epi32(0x0101_0101 * (i as i32 / 2));
            let first = _mm512_set4_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
            let bits = word::<{ LANES * 2 }>(block, 0);
            let bits = _mm512_shuffle_epi8(bits, _mm512_add_epi32(byte, first));
            let set = _mm512_test_epi8_mask(bits, _mm512_set1_epi32(0x0804_0201 << (4 * (i % 2))));
            _mm512_or_si512(code, _mm512_maskz_set1_epi8(set, 16))
        },
    );
}
