//! Transposes the bytes of 16 rows of weights in groups of four: a vector holds four bytes of each
//! row.

use std::arch::x86_64::*;

use super::{
    lanes::{load_lanes, load64, part, transpose},
    panel::{LANES, Whole},
};

/// Loads 64 bytes of each row, starting at byte `at`, and transposes them: vector `i` holds bytes
/// 4i to 4i + 3 of all rows. Also prefetches 16 lines of the data that will be needed soon,
/// starting at line `first`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn turned<const BYTES: usize>(
    rows: &Whole<'_, BYTES>,
    at: usize,
    first: usize,
) -> [__m512i; 16] {
    let mut v = [_mm512_setzero_si512(); 16];
    for i in 0..LANES {
        rows.soon.fetch(first + i);
        v[i] = load64(part(rows.rows[i], at));
    }
    transpose(v)
}

/// Loads 16 bytes of each row, starting at byte `at`, and transposes them: vector `i` holds bytes
/// 4i to 4i + 3 of all rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn turned_heads<const BYTES: usize>(rows: &Whole<'_, BYTES>, at: usize) -> [__m512i; 4] {
    let mut v = [_mm512_setzero_si512(); 4];
    for i in 0..4 {
        let head = |lane: usize| part(rows.rows[4 * lane + i], at);
        v[i] = load_lanes([head(0), head(1), head(2), head(3)]);
    }
    let (a, b) = (_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    let (c, d) = (_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    [
        _mm512_unpacklo_epi64(a, c),
        _mm512_unpackhi_epi64(a, c),
        _mm512_unpacklo_epi64(b, d),
        _mm512_unpackhi_epi64(b, d),
    ]
}
