//! Q4_K and Q6_K with many rows of activations: a whole-number scale for each row multiplies in the
//! instruction that widens.

use std::arch::x86_64::*;

use super::{
    panel::{
        COLUMNS, Panel, ROWS, accumulate, activations, floats, half_at, multiply, pairs, sums,
    },
    q4_k, q6_k,
};
use crate::{
    blocks::six_bits,
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// Adds a group's products of sub-blocks of `4 · STEPS` codes. `DEPTH` sums of pairs of products
/// fit i16.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add<const STEPS: usize, const DEPTH: usize>(
    panel: &Panel,
    x: [&Int8Group; COLUMNS],
    out: &mut [[f32; ROWS]; COLUMNS],
) {
    let mut acc = [[_mm256_setzero_si256(); 2]; COLUMNS];
    for s in 0..64 / STEPS {
        let factors = pairs(&panel.factors[s]);
        for first in (STEPS * s..STEPS * (s + 1)).step_by(DEPTH) {
            let mut narrow = [[_mm256_setzero_si256(); 2]; COLUMNS];
            for k in first..first + DEPTH {
                let codes = panel.codes(0, k);
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
                        _mm256_add_epi32(acc[t][h], _mm256_madd_epi16(narrow[t][h], factors[h]));
                }
            }
        }
    }
    let mut shift = [[_mm256_setzero_si256(); 2]; COLUMNS];
    for (k, minimums) in panel.minimums.iter().enumerate() {
        let minimums = pairs(minimums);
        for t in 0..COLUMNS {
            for h in 0..2 {
                shift[t][h] =
                    _mm256_add_epi32(shift[t][h], _mm256_madd_epi16(minimums[h], sums(x[t], k)));
            }
        }
    }
    let (scales, minimum_scales) = (floats(&panel.scales[0]), floats(&panel.minimum_scales));
    for t in 0..COLUMNS {
        let mut products = [_mm256_setzero_ps(); 2];
        for h in 0..2 {
            products[h] = _mm256_mul_ps(scales[h], _mm256_cvtepi32_ps(acc[t][h]));
            products[h] =
                _mm256_fnmadd_ps(minimum_scales[h], _mm256_cvtepi32_ps(shift[t][h]), products[h]);
        }
        accumulate(&mut out[t], x[t].scales[0], products);
    }
}

/// Pairs of products are at most 2 · 15 · 127: eight of them fit.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn q4_k(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let fill = |panel: &mut Panel, rows: &[&[[u8; 144]]; ROWS]| {
        for (r, row) in rows.iter().enumerate() {
            let block = &row[0];
            let (scales, mins) = six_bits::unpack(block[4..16].try_into().expect("12 bytes"));
            let (scales, mins) = (scales.to_le_bytes(), mins.to_le_bytes());
            (panel.scales[0][r], panel.minimum_scales[r]) = (half_at(block, 0), half_at(block, 2));
            for j in 0..8 {
                panel.factors[j][r] = [i16::from(scales[j]); 2];
                panel.minimums[j][r] = [i16::from(mins[j]); 2];
            }
        }
        for chunk in 0..8 {
            for half in 0..2 {
                let mut codes = [_mm256_setzero_si256(); 8];
                for (codes, row) in codes.iter_mut().zip(&rows[8 * half..]) {
                    *codes = q4_k::codes(&row[0], chunk);
                }
                panel.set_codes(0, chunk, half, codes);
            }
        }
    };
    multiply::<144, 1>(weight, x, tile, fill, |panel, x, out| add::<8, 8>(panel, x, out));
}

/// Pairs of products are at most 2 · 63 · 127: two of them fit. What all codes are too much is a
/// minimum of 32 scales.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn q6_k(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let fill = |panel: &mut Panel, rows: &[&[[u8; 210]]; ROWS]| {
        for (r, row) in rows.iter().enumerate() {
            let d = half_at(&row[0], 208);
            (panel.scales[0][r], panel.minimum_scales[r]) = (d, d);
            for s in 0..16 {
                let scale = i16::from(row[0][192 + s] as i8);
                panel.factors[s][r] = [scale; 2];
                panel.minimums[s / 2][r][s % 2] = 32 * scale;
            }
        }
        for rows_half in 0..2 {
            for half in 0..2 {
                let mut quarters = [[_mm256_setzero_si256(); 8]; 4];
                for (i, row) in rows[8 * rows_half..8 * rows_half + 8].iter().enumerate() {
                    for (quarter, codes) in quarters.iter_mut().zip(q6_k::codes(&row[0], half)) {
                        quarter[i] = codes;
                    }
                }
                for (quarter, codes) in quarters.into_iter().enumerate() {
                    panel.set_codes(0, 4 * half + quarter, rows_half, codes);
                }
            }
        }
    };
    multiply::<210, 1>(weight, x, tile, fill, |panel, x, out| add::<4, 2>(panel, x, out));
}
