//! [`Q5_K`](crate::blocks::q5_k): like `Q4_K`, with a fifth bit.

use std::arch::x86_64::*;

use super::{
    lanes::{load32, load64, part, two_halves},
    many,
    panel::LANES,
    q4_k::scales_and_minimums,
    side_by_side,
    sixteen_rows::{nibble, word},
    sub_blocks::{self, ORDER},
    super_blocks::SuperBlock,
};
use crate::{blocks::q5_k::BYTES, format::Q5_K, input::Input, matrix::Matrix, parallel::Tile};

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    sub_blocks::multiply(weight, x, tile, |block| codes(block));
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q5_K>(weight, x, tile, |panel, rows| {
        panel.fill(&ORDER.columns, rows, |block| unpack(part(block, 0)).row());
        let rows = rows.whole::<BYTES>().expect("whole blocks");
        panel.set_sub_blocks(&rows);
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
    let (a, b) = (load64(part(block, 48)), load64(part(block, 112)));
    // Bit j of byte i belongs to weight i of sub-block j. The sub-block in the upper half of a
    // vector comes two after the one in the lower half.
    let fifth = _mm512_broadcast_i64x4(load32(part(block, 16)));
    let fifth = _mm512_mask_srli_epi16::<2>(fifth, 0xffff_0000, fifth);
    let sixteen = _mm512_set1_epi8(16);
    let with = |codes: __m512i, bits: __m512i| {
        _mm512_or_si512(_mm512_and_si512(codes, low), _mm512_and_si512(bits, sixteen))
    };
    [
        with(a, _mm512_slli_epi16::<4>(fifth)),
        with(_mm512_srli_epi16::<4>(a), _mm512_slli_epi16::<3>(fifth)),
        with(b, fifth),
        with(_mm512_srli_epi16::<4>(b), _mm512_srli_epi16::<1>(fifth)),
    ]
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    side_by_side::multiply::<Q5_K, { LANES * BYTES }>(
        weight,
        x,
        tile,
        |factors, _, block| factors.set_sub_blocks(block),
        |block, i| {
            let code = nibble(word::<{ LANES * 48 }>(block, i / 16 * 8 + i % 8), i / 8 % 2);
            // Bit j of each byte belongs to sub-block j.
            let bits = word::<{ LANES * 16 }>(block, i % 8);
            let bit = _mm512_srl_epi16(bits, _mm_cvtsi32_si128(i as i32 / 8));
            let bit = _mm512_slli_epi16::<4>(bit);
            _mm512_or_si512(code, _mm512_and_si512(bit, _mm512_set1_epi8(16)))
        },
    );
}
