//! Q8_0, Q4_0 and Q5_0 with many rows of activations: codes so small that several sums of pairs fit
//! i16 before they are widened. The codes of Q8_0 are made so small: their lower and upper four
//! bits are multiplied one after the other.

use std::arch::x86_64::*;

use super::{
    panel::{COLUMNS, Panel, ROWS, accumulate, activations, floats, multiply, sums},
    q4_0, q5_0, q8_0,
};
use crate::{
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// Adds a group's products of blocks of 32 codes, which are all `OFFSET` too much and stand in
/// `PLANES` parts of four bits, or of five in one part. `DEPTH` sums of pairs of products fit i16.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add<const DEPTH: usize, const OFFSET: i16, const PLANES: usize>(
    panel: &Panel,
    x: [&Int8Group; COLUMNS],
    out: &mut [[f32; ROWS]; COLUMNS],
) {
    let mut total = [[_mm256_setzero_ps(); 2]; COLUMNS];
    for b in 0..8 {
        let mut acc = [[_mm256_setzero_si256(); 2]; COLUMNS];
        for t in 0..COLUMNS {
            acc[t] = [_mm256_madd_epi16(sums(x[t], b), _mm256_set1_epi16(-OFFSET)); 2];
        }
        for plane in 0..PLANES {
            let unit = _mm256_set1_epi16(1 << (4 * plane));
            for first in (8 * b..8 * b + 8).step_by(DEPTH) {
                let mut narrow = [[_mm256_setzero_si256(); 2]; COLUMNS];
                for k in first..first + DEPTH {
                    let codes = panel.codes(plane, k);
                    for t in 0..COLUMNS {
                        let p = activations(x[t], k);
                        for h in 0..2 {
                            narrow[t][h] =
                                _mm256_add_epi16(narrow[t][h], _mm256_maddubs_epi16(codes[h], p));
                        }
                    }
                }
                for t in 0..COLUMNS {
                    for h in 0..2 {
                        acc[t][h] =
                            _mm256_add_epi32(acc[t][h], _mm256_madd_epi16(narrow[t][h], unit));
                    }
                }
            }
        }
        let scales = floats(&panel.scales[b]);
        for t in 0..COLUMNS {
            let scale = _mm256_set1_ps(x[t].scales[b]);
            for h in 0..2 {
                total[t][h] = _mm256_fmadd_ps(
                    _mm256_mul_ps(scales[h], scale),
                    _mm256_cvtepi32_ps(acc[t][h]),
                    total[t][h],
                );
            }
        }
    }
    for t in 0..COLUMNS {
        accumulate(&mut out[t], 1.0, total[t]);
    }
}

/// Fills a panel with 16 rows of blocks, whose 32 codes `codes` finds, in `PLANES` parts.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn fill<const BYTES: usize, const PLANES: usize>(
    panel: &mut Panel,
    rows: &[&[[u8; BYTES]]; ROWS],
    codes: impl Fn(&[u8; BYTES]) -> [__m256i; PLANES],
) {
    panel.set_block_scales(rows);
    for b in 0..rows[0].len() {
        for half in 0..2 {
            let mut planes = [[_mm256_setzero_si256(); 8]; PLANES];
            for (i, row) in rows[8 * half..8 * half + 8].iter().enumerate() {
                for (plane, codes) in planes.iter_mut().zip(codes(&row[b])) {
                    plane[i] = codes;
                }
            }
            for (plane, codes) in planes.into_iter().enumerate() {
                panel.set_codes(plane, b, half, codes);
            }
        }
    }
}

/// The codes of Q8_0 are from −128: 128 more, and they have no sign. Pairs of products are at most
/// 2 · 15 · 127: eight of them fit.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn q8_0(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let codes = |block: &[u8; 34]| {
        let (codes, four) =
            (_mm256_xor_si256(q8_0::codes(block), _mm256_set1_epi8(-128)), _mm256_set1_epi8(15));
        [_mm256_and_si256(codes, four), _mm256_and_si256(_mm256_srli_epi16::<4>(codes), four)]
    };
    multiply::<34, 8>(
        weight,
        x,
        tile,
        |panel, rows| fill(panel, rows, codes),
        |panel, x, out| add::<8, 128, 2>(panel, x, out),
    );
}

/// Pairs of products are at most 2 · 15 · 127: eight of them fit.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn q4_0(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let codes = |block: &[u8; 18]| [q4_0::codes(block)];
    multiply::<18, 8>(
        weight,
        x,
        tile,
        |panel, rows| fill(panel, rows, codes),
        |panel, x, out| add::<8, 8, 1>(panel, x, out),
    );
}

/// Pairs of products are at most 2 · 31 · 127: four of them fit.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn q5_0(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let codes = |block: &[u8; 22]| [q5_0::codes(block)];
    multiply::<22, 8>(
        weight,
        x,
        tile,
        |panel, rows| fill(panel, rows, codes),
        |panel, x, out| add::<4, 16, 1>(panel, x, out),
    );
}
