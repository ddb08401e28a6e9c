//! [`Q3_K`](crate::blocks::q3_k): a quarter of a byte holds two bits of a code, and the third bit
//! is stored elsewhere. Codes are stored with 4 added. Every 16 weights share a scale of 6 bits.

use std::arch::x86_64::*;

use super::{
    lanes::{load16, load32, load64, one_half, part},
    many,
    q2_k::{ORDER, two_bits},
    super_blocks::{self, SuperBlock},
};
use crate::{
    blocks::q3_k::{BYTES, scales},
    format::Q3_K,
    input::Input,
    matrix::Matrix,
    parallel::Tile,
};

/// Multiplies weights by a few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    super_blocks::multiply::<Q3_K, BYTES>(weight, x, tile, &ORDER, |block| unpack(block));
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::multiply::<Q3_K>(weight, x, tile, |panel, rows| {
        panel.fill(&ORDER.columns, rows, |block| unpack(part(block, 0)).row());
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(crate) fn unpack(block: &[u8; BYTES]) -> SuperBlock {
    let low = two_bits(load64(part(block, 32)));
    // Bit j of byte i belongs to weight 32j + i. The upper half of a vector holds weights of the
    // block's second half.
    let third = _mm512_broadcast_i64x4(load32(part(block, 0)));
    let third = _mm512_mask_srli_epi16::<4>(third, 0xffff_0000, third);
    let four = _mm512_set1_epi8(4);
    let with = |codes: __m512i, bits: __m512i| _mm512_or_si512(codes, _mm512_and_si512(bits, four));
    let codes = [
        with(low[0], _mm512_slli_epi16::<2>(third)),
        with(low[1], _mm512_slli_epi16::<1>(third)),
        with(low[2], third),
        with(low[3], _mm512_srli_epi16::<1>(third)),
    ];
    let scales = bytemuck::cast(scales(part(block, 96)));
    let scales = _mm256_cvtepi8_epi16(load16(&scales));
    SuperBlock { codes, scales, minimums: scales, d: one_half(part(block, 108)) }
}
