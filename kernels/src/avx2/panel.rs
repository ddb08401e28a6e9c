//! A panel: a block of 256 weights of each of 16 rows, side by side. A register holds four
//! neighbouring codes of each of eight rows. So one instruction multiplies eight rows by four
//! activations, which are repeated on all lanes. Each lane of the result belongs to one row, and
//! nothing is added across lanes.

use std::arch::x86_64::*;

use super::super_blocks::Head;
use crate::{
    format::{Format, Zero},
    input::SUPER_BLOCK,
    prefetch::prefetch,
};

/// Number of weight rows in a panel: two registers of eight lanes.
pub(super) const ROWS: usize = 16;

/// Number of rows of activations that are multiplied at once. Their sums stay in registers.
pub(super) const TOKENS: usize = 4;

/// [`SUPER_BLOCK`] unpacked columns of [`ROWS`] rows.
#[repr(C, align(32))]
pub(super) struct Panel {
    /// Codes, `[columns / 4, ROWS, 4]`.
    codes: [[u8; 4 * ROWS]; SUPER_BLOCK / 4],
    /// The factors by which the sums of products are multiplied, one for each row.
    pub(super) scales: [f32; ROWS],
    /// The factors by which the sums of products with `shifts` are multiplied, one for each row.
    pub(super) minimums: [f32; ROWS],
    /// Integer scales, `[scales, ROWS, 2]`. Each scale is stored twice, because two sums of pairs
    /// are multiplied by it and added.
    pub(super) factors: [[[i16; 2]; ROWS]; 16],
    /// Integer minimums, by which sums of 16 activations are multiplied,
    /// `[pairs of sums, ROWS, 2]`. In formats with an offset, a minimum is `offset · scale`.
    pub(super) shifts: [[[i16; 2]; ROWS]; 8],
}

impl Panel {
    pub(super) fn zero() -> Self {
        Self {
            codes: [[0; 4 * ROWS]; SUPER_BLOCK / 4],
            scales: [0.0; ROWS],
            minimums: [0.0; ROWS],
            factors: [[[0; 2]; ROWS]; 16],
            shifts: [[[0; 2]; ROWS]; 8],
        }
    }

    /// Returns the codes of columns `4k…4k + 3`: first of rows 0…7, then of rows 8…15.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn codes(&self, k: usize) -> [__m256i; 2] {
        let at = self.codes[k].as_ptr();
        // SAFETY: the loads read 64 bytes. Their address is a multiple of 32, as the panel's is.
        unsafe { [_mm256_load_si256(at.cast()), _mm256_load_si256(at.add(32).cast())] }
    }

    /// Sets the codes of columns `4k…4k + 3` in eight rows, starting at row `8 · half`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn set_codes(&mut self, k: usize, half: usize, codes: __m256i) {
        let to: &mut [u8] = &mut self.codes[k][32 * half..][..32];
        // SAFETY: the slice has 32 bytes, and this store requires no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) }
    }

    /// Fills the panel with a block of 256 weights of each of 16 rows. `codes` must load the bytes
    /// of one half of a block. `split` must convert these bytes, after they are transposed, to 128
    /// codes.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn fill<F: Format, const BYTES: usize, const PARTS: usize>(
        &mut self,
        rows: &[&[u8; BYTES]; ROWS],
        ahead: usize,
        head: impl Fn(&[u8; BYTES]) -> Head,
        codes: impl Fn(&[u8; BYTES], usize) -> [__m256i; PARTS],
        split: impl Fn([__m256i; PARTS]) -> [__m256i; 4],
    ) {
        for rows_half in 0..2 {
            let (mut scales, mut minimums) =
                ([_mm256_setzero_si256(); 8], [_mm256_setzero_si256(); 8]);
            for (i, row) in rows[8 * rows_half..8 * rows_half + 8].iter().enumerate() {
                prefetch(*row, ahead);
                let (head, r) = (head(row), 8 * rows_half + i);
                self.scales[r] = _mm256_cvtss_f32(head.d);
                scales[i] = head.scales;
                // The offset of the codes is subtracted as a minimum of `offset · scale`.
                (minimums[i], self.minimums[r]) = match F::ZERO {
                    Zero::Minimum => (head.minimums, _mm256_cvtss_f32(head.dmin)),
                    Zero::Offset(offset) => {
                        let offset = _mm256_set1_epi16(i16::from(offset));
                        (_mm256_mullo_epi16(head.scales, offset), self.scales[r])
                    }
                };
            }
            for (k, pairs) in transpose(minimums).into_iter().enumerate() {
                store(&mut self.shifts[k], rows_half, pairs);
            }
            for (k, pairs) in transpose(scales).into_iter().enumerate() {
                if F::PER_SCALE == 32 {
                    store(&mut self.factors[k], rows_half, pairs);
                } else {
                    let first = _mm256_slli_epi32::<16>(pairs);
                    let low = _mm256_or_si256(first, _mm256_srli_epi32::<16>(first));
                    let second = _mm256_srli_epi32::<16>(pairs);
                    let high = _mm256_or_si256(second, _mm256_slli_epi32::<16>(second));
                    store(&mut self.factors[2 * k], rows_half, low);
                    store(&mut self.factors[2 * k + 1], rows_half, high);
                }
            }
            for half in 0..2 {
                let mut parts = [[_mm256_setzero_si256(); 8]; PARTS];
                for i in 0..8 {
                    let codes = codes(rows[8 * rows_half + i], half);
                    for part in 0..PARTS {
                        parts[part][i] = codes[part];
                    }
                }
                for part in &mut parts {
                    *part = transpose(*part);
                }
                for k in 0..8 {
                    let mut columns = [_mm256_setzero_si256(); PARTS];
                    for part in 0..PARTS {
                        columns[part] = parts[part][k];
                    }
                    let quarters = split(columns);
                    for quarter in 0..4 {
                        let k = 8 * (4 * half + quarter) + k;
                        self.set_codes(k, rows_half, quarters[quarter]);
                    }
                }
            }
        }
    }
}

/// Transposes eight rows of eight 32-bit lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn transpose(r: [__m256i; 8]) -> [__m256i; 8] {
    let two = |a, b| [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
    let four = |a: [__m256i; 2], b: [__m256i; 2]| {
        [
            _mm256_unpacklo_epi64(a[0], b[0]),
            _mm256_unpackhi_epi64(a[0], b[0]),
            _mm256_unpacklo_epi64(a[1], b[1]),
            _mm256_unpackhi_epi64(a[1], b[1]),
        ]
    };
    let upper = four(two(r[0], r[1]), two(r[2], r[3]));
    let lower = four(two(r[4], r[5]), two(r[6], r[7]));
    let low = |i: usize| _mm256_permute2x128_si256::<0x20>(upper[i], lower[i]);
    let high = |i: usize| _mm256_permute2x128_si256::<0x31>(upper[i], lower[i]);
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
}

/// Stores `pairs`, one for each of eight rows, in `row`, starting at index `8 · half`.
#[inline]
#[target_feature(enable = "avx2")]
fn store(row: &mut [[i16; 2]; ROWS], half: usize, pairs: __m256i) {
    let to: &mut [[i16; 2]] = &mut row[8 * half..][..8];
    // SAFETY: the store writes eight pairs of four bytes, and requires no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), pairs) }
}
