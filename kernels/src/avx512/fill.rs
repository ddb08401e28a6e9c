//! What fills a panel in the formats that are used most: bytes are turned as they lie in the file,
//! and codes and scales taken out of them for 16 rows at a time.

use std::arch::x86_64::*;

use super::{
    lanes::{load_lanes, load64, part, transpose},
    order::Columns,
    panel::{LANES, Panel, Rows},
};
use crate::prefetch::prefetch;

/// 64 bytes of each row, turned: number `i` holds bytes 4i to 4i + 3 of all rows.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn turned(rows: &Rows<'_>, at: usize) -> [__m512i; 16] {
    let mut v = [_mm512_setzero_si512(); 16];
    for i in 0..LANES {
        let bytes = part(rows.rows[i], at);
        prefetch(bytes, rows.ahead);
        v[i] = load64(bytes);
    }
    transpose(v)
}

/// 16 bytes of each row, turned.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn turned_heads(rows: &Rows<'_>, at: usize) -> [__m512i; 4] {
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

/// Numbers in half precision, one of each row, in the lower halves of 32 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn floats(halves: __m512i) -> __m512i {
    _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves)))
}

impl Panel {
    /// Two codes in each of 64 turned bytes a row, vectors `low` and `high` of the format's
    /// columns.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_nibbles(
        &mut self,
        columns: &Columns,
        (low, high): (usize, usize),
        bytes: [__m512i; 16],
    ) {
        let four = _mm512_set1_epi8(15);
        for i in 0..16 {
            self.codes[columns[16 * low + i]] = _mm512_and_si512(bytes[i], four);
            self.codes[columns[16 * high + i]] =
                _mm512_and_si512(_mm512_srli_epi16::<4>(bytes[i]), four);
        }
    }

    /// What `Q4_K` and `Q5_K` have in their first 16 bytes.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_sub_blocks(&mut self, rows: &Rows<'_>) {
        let [d, scales, minimums, last] = turned_heads(rows, 0);
        (self.minimums[8], self.minimums[9]) = (floats(d), floats(_mm512_srli_epi32::<16>(d)));
        let bits = |v: __m512i, by: usize, mask: i32| {
            let by = _mm_cvtsi32_si128(by as i32);
            _mm512_and_si512(_mm512_srl_epi32(v, by), _mm512_set1_epi32(mask))
        };
        // Numbers 4 to 7 have their lower four bits elsewhere.
        let number = |own: __m512i, j: usize, lower: usize| match j {
            0..4 => bits(own, 8 * j, 63),
            _ => {
                let upper = _mm512_slli_epi32::<4>(bits(own, 8 * (j - 4) + 6, 3));
                _mm512_or_si512(upper, bits(last, 8 * (j - 4) + lower, 15))
            }
        };
        for j in 0..8 {
            let scale = _mm512_castps_si512(_mm512_cvtepi32_ps(number(scales, j, 0)));
            (self.scales[2 * j], self.scales[2 * j + 1]) = (scale, scale);
        }
        for i in 0..4 {
            let second = _mm512_slli_epi32::<16>(number(minimums, 2 * i + 1, 4));
            self.minimums[i] = _mm512_or_si512(number(minimums, 2 * i, 4), second);
        }
    }

    /// Signed bytes at `at` that are scales of 16 columns each, and `d`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_signed_scales(&mut self, rows: &Rows<'_>, at: usize, d: usize) {
        for (i, four) in turned_heads(rows, at).into_iter().enumerate() {
            let up = [
                _mm512_slli_epi32::<24>(four),
                _mm512_slli_epi32::<16>(four),
                _mm512_slli_epi32::<8>(four),
                four,
            ];
            for j in 0..4 {
                let scale = _mm512_cvtepi32_ps(_mm512_srai_epi32::<24>(up[j]));
                self.scales[4 * i + j] = _mm512_castps_si512(scale);
            }
        }
        self.minimums[8] = halves(rows, d);
    }

    /// The number in half precision that each of eight blocks of `BYTES` begins with.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_block_scales<const BYTES: usize>(&mut self, rows: &Rows<'_>) {
        for b in 0..8 {
            let scale = halves(rows, b * BYTES);
            (self.scales[2 * b], self.scales[2 * b + 1]) = (scale, scale);
        }
    }
}

/// The number in half precision at `at` of each row.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(rows: &Rows<'_>, at: usize) -> __m512i {
    let mut words = [0u16; LANES];
    for i in 0..LANES {
        words[i] = u16::from_le_bytes(*part(rows.rows[i], at));
    }
    // SAFETY: 16 numbers of 16 bits are 32 bytes.
    let words = unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
    _mm512_castps_si512(_mm512_cvtph_ps(words))
}
