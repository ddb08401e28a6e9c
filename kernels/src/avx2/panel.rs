//! 16 rows of weights side by side. A register holds four neighbouring codes of each of eight rows.
//! So one instruction multiplies eight rows by four activations, which are repeated on all lanes.
//! Each lane of the result belongs to one row, and nothing is added across lanes.

use std::arch::x86_64::*;

use super::super_blocks::Head;
use crate::{
    blocks::mxfp4,
    format::{Format, Zero, power_of_two},
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
    /// Codes, or their lower and their upper four bits, `[2, columns / 4, ROWS, 4]`.
    codes: [[[u8; 4 * ROWS]; SUPER_BLOCK / 4]; 2],
    /// The factors of a block's sums, `[blocks, ROWS]`.
    pub(super) scales: [[f32; ROWS]; 8],
    /// For blocks of 32: the minimum of each block, `[blocks, ROWS]`, by which a sum of activations
    /// is multiplied. For blocks of 256: the factors by which the sums of products with `shifts`
    /// are multiplied.
    pub(super) minimums: [[f32; ROWS]; 8],
    /// Scales of a block of 256, `[scales, ROWS, 2]`. Each scale is stored twice, because two sums
    /// of pairs are multiplied by it and added.
    pub(super) factors: [[[i16; 2]; ROWS]; 16],
    /// Factors of the sums of 16 activations, `[pairs of sums, ROWS, 2]`.
    pub(super) shifts: [[[i16; 2]; ROWS]; 8],
}

impl Panel {
    pub(super) fn zero() -> Self {
        Self {
            codes: [[[0; 4 * ROWS]; SUPER_BLOCK / 4]; 2],
            scales: [[0.0; ROWS]; 8],
            minimums: [[0.0; ROWS]; 8],
            factors: [[[0; 2]; ROWS]; 16],
            shifts: [[[0; 2]; ROWS]; 8],
        }
    }

    /// Returns the codes of columns `4k…4k + 3`: first of rows 0…7, then of rows 8…15.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn codes(&self, plane: usize, k: usize) -> [__m256i; 2] {
        let at = self.codes[plane][k].as_ptr();
        // SAFETY: 64 bytes at an address that is a multiple of 32, because the panel's address is.
        unsafe { [_mm256_load_si256(at.cast()), _mm256_load_si256(at.add(32).cast())] }
    }

    /// Sets the codes of columns `4k…4k + 3` in the eight rows from `8 · half` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn set_codes(&mut self, plane: usize, k: usize, half: usize, codes: __m256i) {
        let to: &mut [u8] = &mut self.codes[plane][k][32 * half..][..32];
        // SAFETY: the slice has 32 bytes, and this store asks for no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), codes) }
    }

    /// Fills the panel with 16 rows of up to eight blocks of 32 weights: see [`Panel::fill_eight`].
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn fill_blocks<F: Format, const BYTES: usize, const PLANES: usize>(
        &mut self,
        rows: &[&[[u8; BYTES]]; ROWS],
        ahead: usize,
        codes: impl Fn(&[u8; BYTES]) -> __m256i,
        split: impl Fn(__m256i) -> [__m256i; PLANES],
    ) {
        let there = rows[0].len();
        let padded;
        let mut eights = [&[[0; BYTES]; 8]; ROWS];
        if there == 8 {
            for (eight, row) in eights.iter_mut().zip(rows) {
                *eight = row.first_chunk().expect("eight blocks");
            }
        } else {
            let mut copy = [[[0; BYTES]; 8]; ROWS];
            for (copy, row) in copy.iter_mut().zip(rows) {
                copy[..there].copy_from_slice(row);
            }
            padded = copy;
            eights = padded.each_ref();
        }
        self.fill_eight::<F, BYTES, PLANES>(&eights, ahead, codes, split);
        // Missing blocks get scales of 0.
        self.scales[there..].fill([0.0; ROWS]);
        self.minimums[there..].fill([0.0; ROWS]);
    }

    /// Fills the panel with 16 rows of eight blocks. `codes` must unpack a block's codes, and
    /// `split` must divide them into parts of four bits. `split` runs after the transpose, so that
    /// packed codes are moved together.
    ///
    /// All loops have constant lengths, so the compiler unrolls them and removes the bounds checks.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    fn fill_eight<F: Format, const BYTES: usize, const PLANES: usize>(
        &mut self,
        rows: &[&[[u8; BYTES]; 8]; ROWS],
        ahead: usize,
        codes: impl Fn(&[u8; BYTES]) -> __m256i,
        split: impl Fn(__m256i) -> [__m256i; PLANES],
    ) {
        for b in 0..8 {
            for half in 0..2 {
                let mut blocks = [&rows[0][0]; 8];
                let mut registers = [_mm256_setzero_si256(); 8];
                for i in 0..8 {
                    blocks[i] = &rows[8 * half + i][b];
                    prefetch(blocks[i], ahead);
                    registers[i] = codes(blocks[i]);
                }
                let columns = transpose(registers);
                for k in 0..8 {
                    let planes = split(columns[k]);
                    for plane in 0..PLANES {
                        self.set_codes(plane, 8 * b + k, half, planes[plane]);
                    }
                }
                let scales = if const { power_of_two::<F>() } {
                    let mut scales = [0.0; 8];
                    for i in 0..8 {
                        scales[i] = mxfp4::half_of_scale(blocks[i][0]);
                    }
                    scales
                } else {
                    halves_at::<0, BYTES>(&blocks)
                };
                self.scales[b][8 * half..][..8].copy_from_slice(&scales);
                if F::ZERO == Zero::Minimum {
                    let minimums = halves_at::<2, BYTES>(&blocks);
                    self.minimums[b][8 * half..][..8].copy_from_slice(&minimums);
                }
            }
        }
    }

    /// Fills the panel with one block of 256 weights from each of 16 rows. `codes` must load the
    /// bytes of one half of a block, and `split` must convert them to 128 codes, after they are
    /// transposed.
    #[inline]
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn fill_super_blocks<F: Format, const BYTES: usize, const PARTS: usize>(
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
                self.scales[0][r] = _mm256_cvtss_f32(head.d);
                scales[i] = head.scales;
                // The offset of the codes is subtracted like a minimum that is `offset` times the
                // scale.
                (minimums[i], self.minimums[0][r]) = match F::ZERO {
                    Zero::Minimum => (head.minimums, _mm256_cvtss_f32(head.dmin)),
                    Zero::Offset(offset) => {
                        let offset = _mm256_set1_epi16(i16::from(offset));
                        (_mm256_mullo_epi16(head.scales, offset), self.scales[0][r])
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
                        self.set_codes(0, k, rows_half, quarters[quarter]);
                    }
                }
            }
        }
    }
}

/// Returns the half-precision numbers at byte `AT` of eight blocks. Collects them with integer
/// instructions, because the vector units are busy, then converts them all at once.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn halves_at<const AT: usize, const BYTES: usize>(blocks: &[&[u8; BYTES]; 8]) -> [f32; 8] {
    let word = |i: usize| u64::from(u16::from_le_bytes([blocks[i][AT], blocks[i][AT + 1]]));
    let four =
        |i: usize| (word(i) | word(i + 1) << 16 | word(i + 2) << 32 | word(i + 3) << 48) as i64;
    let numbers = _mm256_cvtph_ps(_mm_set_epi64x(four(4), four(0)));
    let mut out = [0.0; 8];
    // SAFETY: eight numbers of four bytes; this store asks for no alignment.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), numbers) }
    out
}

/// Transposes eight rows of eight 32-bit lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(r: [__m256i; 8]) -> [__m256i; 8] {
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

/// Stores one pair for each of eight rows, from row `8 · half` on.
#[inline]
#[target_feature(enable = "avx2")]
fn store(row: &mut [[i16; 2]; ROWS], half: usize, pairs: __m256i) {
    let to: &mut [[i16; 2]] = &mut row[8 * half..][..8];
    // SAFETY: eight pairs of four bytes; this store asks for no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), pairs) }
}
