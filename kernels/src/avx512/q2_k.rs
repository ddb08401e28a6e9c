//! [`Q2_K`](crate::blocks::q2_k): a byte holds four codes. Every 16 weights share a scale and a
//! minimum of 4 bits.

use std::arch::x86_64::*;

use super::{
    lanes::{load16, load64, part, two_halves},
    many,
    order::Order,
    super_blocks::{self, SuperBlock},
};
use crate::{blocks::q2_k::BYTES, format::Q2_K, input::Input, matrix::Matrix, parallel::Tile};

/// The order of columns: a vector holds 32 columns of each half of a block.
pub(crate) const ORDER: Order = Order::new([0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]);

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    super_blocks::multiply::<Q2_K, BYTES>(weight, x, tile, &ORDER, |block| unpack(block));
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q2_K>(weight, x, tile, |panel, rows| {
        panel.fill(&ORDER.columns, rows, |block| unpack(part(block, 0)).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(crate) fn unpack(block: &[u8; BYTES]) -> SuperBlock {
    let both = load16(part(block, 0));
    let low = _mm_set1_epi8(15);
    SuperBlock {
        codes: two_bits(load64(part(block, 16))),
        scales: _mm256_cvtepu8_epi16(_mm_and_si128(both, low)),
        minimums: _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16::<4>(both), low)),
        d: two_halves(part(block, 80)),
    }
}

/// Unpacks the four codes of each byte.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn two_bits(bytes: __m512i) -> [__m512i; 4] {
    let low = _mm512_set1_epi8(3);
    [
        _mm512_and_si512(bytes, low),
        _mm512_and_si512(_mm512_srli_epi16::<2>(bytes), low),
        _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), low),
        _mm512_and_si512(_mm512_srli_epi16::<6>(bytes), low),
    ]
}
