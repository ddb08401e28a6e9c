//! Unpacks 4-bit codes that are floats, and scales of eight bits that are powers of two.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights::Eights,
    lanes::{load_lanes, load64, part},
};
use crate::{blocks::mxfp4::ABOVE_ZERO, streams::STREAMS};

/// Size of a block of `MXFP4` in bytes.
pub(super) const BYTES: usize = TensorType::MXFP4.block_bytes();

/// Returns the entry of [`ABOVE_ZERO`] for each 4-bit code in `numbers`.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn looked_up(numbers: __m512i) -> __m512i {
    _mm512_shuffle_epi8(load_lanes([&ABOVE_ZERO; 4]), numbers)
}

/// Returns `2^(e−127) / 2` for each exponent `e`, which is the lowest byte of a 32-bit number. The
/// other bytes are ignored.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn halves_of_powers(exponents: __m512i) -> __m512 {
    let e = _mm512_and_si512(exponents, _mm512_set1_epi32(255));
    let e = _mm512_sub_epi32(e, _mm512_set1_epi32(128));
    _mm512_scalef_ps(_mm512_set1_ps(1.0), _mm512_cvtepi32_ps(e))
}

/// Returns the scales of eight blocks of four rows.
///
/// A block has 17 bytes, so block `l` of four blocks begins at byte `l` of lane `l`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn scales(rows: [&[u8]; STREAMS]) -> Eights<__m512> {
    let mut scales = [_mm512_setzero_ps(); 2];
    let shifts = _mm512_setr_epi32(0, 0, 0, 0, 8, 8, 8, 8, 16, 16, 16, 16, 24, 24, 24, 24);
    for i in 0..2 {
        let four = |s: usize| load64(part(rows[s], 4 * i * BYTES));
        let (a, b) =
            (_mm512_unpacklo_epi32(four(0), four(1)), _mm512_unpacklo_epi32(four(2), four(3)));
        scales[i] = halves_of_powers(_mm512_srlv_epi32(_mm512_unpacklo_epi64(a, b), shifts));
    }
    scales
}
