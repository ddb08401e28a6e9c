//! Fills a panel for the most common formats. Transposes bytes as they are in the file, then
//! unpacks the codes and scales of 16 rows at once.

use std::arch::x86_64::*;

use super::{
    order::Columns,
    panel::{Factors, Panel, Whole},
    turn::turned_heads,
};

/// Converts half-precision numbers to f32. There is one number per row, in the lower half of a
/// 32-bit element.
#[inline]
#[target_feature(enable = "avx512f")]
fn floats(halves: __m512i) -> __m512i {
    _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves)))
}

impl Panel {
    /// Stores two codes from each of 64 bytes per row. `bytes` are already transposed. In the
    /// format's order, `columns`, the low nibbles are vector `low`, and the high nibbles are vector
    /// `high`.
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

    /// Stores the codes of block `block`, two from each of 16 bytes per row. `bytes` are already
    /// transposed. The first 16 columns are in the low nibbles.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_block_nibbles(&mut self, block: usize, bytes: [__m512i; 4]) {
        let four = _mm512_set1_epi8(15);
        for i in 0..4 {
            self.codes[8 * block + i] = _mm512_and_si512(bytes[i], four);
            self.codes[8 * block + 4 + i] =
                _mm512_and_si512(_mm512_srli_epi16::<4>(bytes[i]), four);
        }
    }

    /// Unpacks the scales, the minimums and their factors of blocks of `Q4_K` or `Q5_K`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_sub_blocks<const BYTES: usize>(&mut self, rows: &Whole<'_, BYTES>) {
        let [d, scales, minimums, last] = turned_heads(rows, 0);
        (self.factors.minimums[8], self.factors.minimums[9]) =
            (floats(d), floats(_mm512_srli_epi32::<16>(d)));
        self.factors.set_six_bits([scales, minimums, last]);
    }

    /// Stores the scales, one for every 16 columns, and their common factor. The scales are signed
    /// bytes, starting at byte `at`, and the factor is at byte `d`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_signed_scales<const BYTES: usize>(
        &mut self,
        rows: &Whole<'_, BYTES>,
        at: usize,
        d: usize,
    ) {
        self.factors.set_signed_bytes(turned_heads(rows, at));
        // The factor is loaded together with the 14 bytes before it.
        self.factors.minimums[8] = floats(_mm512_srli_epi32::<16>(turned_heads(rows, d - 14)[3]));
    }

    /// Stores the scale of block `block`, the half-precision number at byte `at` of each row.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_block_scale<const BYTES: usize>(
        &mut self,
        block: usize,
        rows: &Whole<'_, BYTES>,
        at: usize,
    ) {
        let scale = floats(turned_heads(rows, at)[0]);
        self.factors.scales[2 * block] = scale;
    }
}

impl Factors {
    /// Unpacks the scales and minimums of blocks of `Q4_K` or `Q5_K` from three words of each row.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_six_bits(&mut self, [scales, minimums, last]: [__m512i; 3]) {
        let bits = |v: __m512i, by: usize, mask: i32| {
            let by = _mm_cvtsi32_si128(by as i32);
            _mm512_and_si512(_mm512_srl_epi32(v, by), _mm512_set1_epi32(mask))
        };
        // The lower four bits of numbers 4 to 7 are stored separately.
        let number = |own: __m512i, j: usize, lower: usize| match j {
            0..4 => bits(own, 8 * j, 63),
            _ => {
                let upper = _mm512_slli_epi32::<4>(bits(own, 8 * (j - 4) + 6, 3));
                _mm512_or_si512(upper, bits(last, 8 * (j - 4) + lower, 15))
            }
        };
        for j in 0..8 {
            let scale = _mm512_castps_si512(_mm512_cvtepi32_ps(number(scales, j, 0)));
            self.scales[2 * j] = scale;
        }
        for i in 0..4 {
            let second = _mm512_slli_epi32::<16>(number(minimums, 2 * i + 1, 4));
            self.minimums[i] = _mm512_or_si512(number(minimums, 2 * i, 4), second);
        }
    }

    /// Converts the 16 signed bytes in four words of each row to floats, and stores them as scales,
    /// one for every 16 columns.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn set_signed_bytes(&mut self, words: [__m512i; 4]) {
        for (i, four) in words.into_iter().enumerate() {
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
    }
}
