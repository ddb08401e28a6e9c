//! The product of a panel and four rows of activations. Codes are so small that several sums of two
//! products can be added in 16 bits before the total is widened.

use std::arch::x86_64::*;

use super::{
    columns::depth,
    panel::{Panel, ROWS, TOKENS},
};
use crate::{format::Format, input::Int8SuperBlock};

/// A sum for each row of activations and each row of a panel.
pub(super) type Sums = [[f32; ROWS]; TOKENS];

/// Adds up the products of `depth` groups of four columns, starting at group `first`. Multiplies
/// these sums by `factors`, and adds the results to 32-bit sums. This is a macro, so that the sums
/// stay in registers.
macro_rules! add_products {
    ($panel:ident, ($first:expr, $depth:ident), $x:ident, $factors:expr, $acc:ident) => {
        let mut narrow = [[_mm256_setzero_si256(); 2]; TOKENS];
        for i in 0..$depth {
            let k = $first + i;
            let codes = $panel.codes(k);
            for t in 0..TOKENS {
                let p = activations($x[t], k);
                for h in 0..2 {
                    let pairs = _mm256_maddubs_epi16(codes[h], p);
                    narrow[t][h] = _mm256_add_epi16(narrow[t][h], pairs);
                }
            }
        }
        for t in 0..TOKENS {
            for h in 0..2 {
                let wide = _mm256_madd_epi16(narrow[t][h], $factors[h]);
                $acc[t][h] = _mm256_add_epi32($acc[t][h], wide);
            }
        }
    };
}

/// Adds the products of a panel and super-blocks of four rows of activations to `out`. The
/// instruction that widens sums also multiplies each row's sum by an integer scale.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add<F: Format>(panel: &Panel, x: [&Int8SuperBlock; TOKENS], out: &mut Sums) {
    let steps = F::PER_SCALE / 4;
    let depth = const {
        let fits = depth(F::HIGHEST);
        if fits < F::PER_SCALE / 4 { fits } else { F::PER_SCALE / 4 }
    };
    let mut acc = [[_mm256_setzero_si256(); 2]; TOKENS];
    for s in 0..64 / steps {
        let factors = pairs(&panel.factors[s]);
        for i in 0..steps / depth {
            add_products!(panel, (steps * s + i * depth, depth), x, factors, acc);
        }
    }
    let mut shift = [[_mm256_setzero_si256(); 2]; TOKENS];
    for (k, minimums) in panel.shifts.iter().enumerate() {
        let minimums = pairs(minimums);
        for t in 0..TOKENS {
            for h in 0..2 {
                let products = _mm256_madd_epi16(minimums[h], sums(x[t], k));
                shift[t][h] = _mm256_add_epi32(shift[t][h], products);
            }
        }
    }
    let (scales, minimums) = (floats(&panel.scales), floats(&panel.minimums));
    for t in 0..TOKENS {
        let mut products = [_mm256_setzero_ps(); 2];
        for h in 0..2 {
            let scaled = _mm256_mul_ps(scales[h], _mm256_cvtepi32_ps(acc[t][h]));
            products[h] = _mm256_fnmadd_ps(minimums[h], _mm256_cvtepi32_ps(shift[t][h]), scaled);
        }
        accumulate(&mut out[t], x[t].scales[0], products);
    }
}

/// Adds scaled products to the sums of a panel's rows: `sums += scale · products`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn accumulate(sums: &mut [f32; ROWS], scale: f32, products: [__m256; 2]) {
    let (scale, [low, high]) = (_mm256_set1_ps(scale), floats(sums));
    let to = sums.as_mut_ptr();
    // SAFETY: the stores write 16 numbers of four bytes, and require no alignment.
    unsafe {
        _mm256_storeu_ps(to, _mm256_fmadd_ps(scale, products[0], low));
        _mm256_storeu_ps(to.add(8), _mm256_fmadd_ps(scale, products[1], high));
    }
}

/// Loads one number per row of the panel: rows 0…7, then rows 8…15.
#[inline]
#[target_feature(enable = "avx2")]
fn floats(row: &[f32; ROWS]) -> [__m256; 2] {
    // SAFETY: the loads read 16 numbers of four bytes, and require no alignment.
    unsafe { [_mm256_loadu_ps(row.as_ptr()), _mm256_loadu_ps(row.as_ptr().add(8))] }
}

/// Like [`floats`], for pairs of i16.
#[inline]
#[target_feature(enable = "avx2")]
fn pairs(row: &[[i16; 2]; ROWS]) -> [__m256i; 2] {
    // SAFETY: the loads read 16 pairs of four bytes, and require no alignment.
    unsafe {
        [_mm256_loadu_si256(row.as_ptr().cast()), _mm256_loadu_si256(row.as_ptr().add(8).cast())]
    }
}

/// Returns activations `4k…4k + 3` on all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn activations(x: &Int8SuperBlock, k: usize) -> __m256i {
    let &[a, b, c, d] = &x.values.as_chunks().0[k];
    _mm256_set1_epi32(i32::from_le_bytes([a as u8, b as u8, c as u8, d as u8]))
}

/// Returns two sums of 16 activations, `2k` and `2k + 1`, on all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn sums(x: &Int8SuperBlock, k: usize) -> __m256i {
    let [low, high] = x.sums.as_chunks().0[k];
    _mm256_set1_epi32(i32::from(low as u16) | i32::from(high) << 16)
}
