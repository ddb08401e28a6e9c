//! [`Q8_0`](crate::week2::blocks::q8_0): codes are signed bytes. `vpdpbusd` wants one operand unsigned: each code is made 128 too high.

use std::arch::x86_64::*;

use super::{
    blocks::{self, Quad},
    lanes::{load32, part},
    panel,
};
use crate::week2::{blocks::q8_0, input::Input, matrix::Matrix, parallel::Tile};

/// Of four blocks.
const BYTES: usize = 4 * q8_0::BYTES;

/// For few rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    blocks::multiply::<BYTES, 128, false>(weight, x, tile, |quad| unpack(quad));
}

/// For many rows of activations.
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    panel::multiply::<32, 128, false, true>(weight, x, tile, blocks::ORDER, |bytes| blocks::row(bytes, |quad| unpack(quad)));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn unpack(quad: &[u8; BYTES]) -> Quad {
    let block = |b: usize| load32(part(quad, b * q8_0::BYTES + 2));
    let ab = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(block(0)), block(1));
    let cd = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(block(2)), block(3));
    let sign = _mm512_set1_epi8(-128);
    let codes = [
        _mm512_xor_si512(_mm512_shuffle_i64x2::<0b10_00_10_00>(ab, cd), sign),
        _mm512_xor_si512(_mm512_shuffle_i64x2::<0b11_01_11_01>(ab, cd), sign),
    ];
    let half = |b: usize| u64::from(u16::from_le_bytes(*part(quad, b * q8_0::BYTES))) << (16 * b);
    let scales = _mm_cvtph_ps(_mm_cvtsi64_si128((half(0) | half(1) | half(2) | half(3)) as i64));
    let lanes = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let scales = _mm512_permutexvar_ps(lanes, _mm512_castps128_ps512(scales));
    Quad { codes, scales, minimums: _mm512_setzero_ps() }
}
