//! `Q4_K`: a byte holds two codes. Scales and minimums are integers.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    lanes::{load64, part, two_halves},
    many,
    panel::LANES,
    side_by_side,
    sixteen_rows::{nibble, word},
    sub_blocks::{self, ORDER},
    super_blocks::SuperBlock,
    turn::turned,
};
use crate::{format::Q4_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q4_K.block_bytes();

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    sub_blocks::multiply(weight, x, tile, |block| codes(block));
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q4_K>(weight, x, tile, |panel, rows| {
        let rows = rows.whole::<BYTES>().expect("whole blocks");
        rows.fetch_rest(2 * LANES);
        panel.set_sub_blocks(&rows);
        panel.set_nibbles(&ORDER.columns, (0, 1), turned(&rows, 16, 0));
        panel.set_nibbles(&ORDER.columns, (2, 3), turned(&rows, 80, LANES));
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(crate) fn unpack(block: &[u8; BYTES]) -> SuperBlock {
    let (scales, minimums) = scales_and_minimums(part(block, 4));
    SuperBlock { codes: codes(block), scales, minimums, d: two_halves(part(block, 0)) }
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn codes(block: &[u8; BYTES]) -> [__m512i; 4] {
    let low = _mm512_set1_epi8(15);
    let (a, b) = (load64(part(block, 16)), load64(part(block, 80)));
    let high = |v| _mm512_and_si512(_mm512_srli_epi16::<4>(v), low);
    [_mm512_and_si512(a, low), high(a), _mm512_and_si512(b, low), high(b)]
}

/// Unpacks eight scales and eight minimums of 6 bits, each twice, as 16-bit numbers.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn scales_and_minimums(packed: &[u8; 12]) -> (__m256i, __m256i) {
    const SIX: u64 = 0x3f3f_3f3f_3f3f_3f3f;
    let first = u64::from_le_bytes(*part(packed, 0));
    let last = u64::from(u32::from_le_bytes(*part(packed, 8)));
    // Scales 0 to 3, then minimums 0 to 3. Then scales and minimums 4 to 7.
    let lower = first & SIX;
    let upper = (first >> 2 & 0x3030_3030_3030_3030) | (last | last << 28) & 0x0f0f_0f0f_0f0f_0f0f;
    let all = _mm_set_epi64x(upper as i64, lower as i64);
    let scales =
        _mm_shuffle_epi8(all, _mm_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 9, 9, 10, 10, 11, 11));
    let minimums = _mm_shuffle_epi8(
        all,
        _mm_setr_epi8(4, 4, 5, 5, 6, 6, 7, 7, 12, 12, 13, 13, 14, 14, 15, 15),
    );
    (_mm256_cvtepu8_epi16(scales), _mm256_cvtepu8_epi16(minimums))
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q4_K, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, _, block| factors.set_sub_blocks(block),
        |block, i| nibble(word::<{ LANES * 16 }>(block, i / 16 * 8 + i % 8), i / 8 % 2),
    );
}
