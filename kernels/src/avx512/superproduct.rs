//! The product of two panels of blocks of 256 weights and some rows of activations.
//!
//! A sum of products times an integer scale is an integer, which a float holds exactly if it is
//! below 2²⁴. So as many sums as [`chain`] allows are multiplied and added as floats, with one
//! instruction each.

use std::arch::x86_64::*;

use super::{
    minimums::{minimums, pairs},
    panel::{Factors, Panel},
    sums::{Sums, four_at, integers},
};
use crate::{
    format::{Format, Zero},
    input::{Int8SuperBlock, SUM, SUPER_BLOCK},
};

/// Returns how many sums, multiplied by their scales, can be added while the total stays below 2²⁴.
pub(super) const fn chain<F: Format>() -> usize {
    // The largest magnitude of a code after its offset is subtracted. Activations are at most 127.
    // Scales have 4 bits in Q2_K, are signed in formats with an offset, and have 6 bits otherwise.
    let (code, scale) = match F::ZERO {
        Zero::Offset(offset) => (offset as usize, if F::HIGHEST == 7 { 32 } else { 128 }),
        Zero::Minimum => (F::HIGHEST as usize, if F::PER_SCALE == 16 { 15 } else { 63 }),
    };
    let one = F::PER_SCALE * code * 127 * scale;
    let mut chain = SUPER_BLOCK / F::PER_SCALE;
    while chain > 1 && chain * one >= 1 << 24 {
        chain /= 2;
    }
    chain
}

/// Returns the order in which sums are added. Sums that belong to the same part in the kernels for
/// a few rows are neighbours.
const fn order<F: Format>() -> [usize; SUPER_BLOCK / SUM] {
    match F::PER_SCALE {
        32 => [0, 1, 4, 5, 2, 3, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0],
        _ => [0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15],
    }
}

/// Returns the index of the chain to which each sum is added.
pub(super) const fn chain_of<F: Format>() -> [usize; SUPER_BLOCK / SUM] {
    let (order, chain) = (order::<F>(), chain::<F>());
    let (mut of, mut i) = ([0; SUPER_BLOCK / SUM], 0);
    while i < SUPER_BLOCK / F::PER_SCALE {
        of[order[i]] = i / chain;
        i += 1;
    }
    of
}

/// Adds the products of two panels and `N` super-blocks of activations to `out`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) fn add<F: Format, const N: usize>(
    panels: &[Panel; 2],
    x: [&Int8SuperBlock; N],
    out: &mut [Sums; N],
) {
    let code = |h: usize, i: usize| panels[h].codes[i];
    let (chain, order) = (const { chain::<F>() }, const { order::<F>() });
    let starts = starts::<F, N>(x);
    // These are macros, because the totals must stay in registers.
    macro_rules! chained {
        ($i:expr) => {{
            let mut total = [[_mm512_setzero_ps(); 2]; N];
            for i in 0..chain {
                let piece = order[$i * chain + i];
                let sums = integers!(F, N, code, x, piece, starts);
                for n in 0..N {
                    for h in 0..2 {
                        let scale = panels[h].factors.scales[piece * F::PER_SCALE / SUM];
                        total[n][h] = _mm512_fmadd_ps(
                            _mm512_cvtepi32_ps(sums[n][h]),
                            _mm512_castsi512_ps(scale),
                            total[n][h],
                        );
                    }
                }
            }
            total
        }};
    }
    macro_rules! sum {
        ($a:expr, $b:expr) => {{
            let waiting = $a;
            let mut total = $b;
            for n in 0..N {
                for h in 0..2 {
                    total[n][h] = _mm512_add_ps(waiting[n][h], total[n][h]);
                }
            }
            total
        }};
    }
    let total = match SUPER_BLOCK / F::PER_SCALE / chain {
        1 => chained!(0),
        2 => sum!(chained!(0), chained!(1)),
        chains => {
            let mut waiting = [[[_mm512_setzero_ps(); 2]; N]; 2];
            let mut total = waiting[0];
            for i in 0..chains / 2 {
                total = sum!(chained!(2 * i), chained!(2 * i + 1));
                if i % 2 == 1 {
                    total = sum!(waiting[0], total);
                    if i == 3 {
                        total = sum!(waiting[1], total);
                    }
                    waiting[1] = total;
                } else {
                    waiting[0] = total;
                }
            }
            total
        }
    };
    finish::<F, N>([&panels[0].factors, &panels[1].factors], x, &total, out);
}

/// Multiplies the sums of products of a super-block by the factors of its weights and activations,
/// subtracts the minimums, and adds the result to `out`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) fn finish<F: Format, const N: usize>(
    factors: [&Factors; 2],
    x: [&Int8SuperBlock; N],
    total: &[Sums; N],
    out: &mut [Sums; N],
) {
    let pairs = pairs::<F, N>(x);
    for h in 0..2 {
        let [d, dmin] = [8, 9].map(|i| _mm512_castsi512_ps(factors[h].minimums[i]));
        let minimums = minimums::<F, N>(factors[h], &pairs);
        for n in 0..N {
            let mut scaled = _mm512_mul_ps(d, total[n][h]);
            if F::ZERO == Zero::Minimum {
                scaled = _mm512_fnmadd_ps(dmin, _mm512_cvtepi32_ps(minimums[n]), scaled);
            }
            out[n][h] = _mm512_fmadd_ps(scaled, _mm512_set1_ps(x[n].scales[0]), out[n][h]);
        }
    }
}

/// Returns the amount that the offset subtracts from each sum of products. It is the same for all
/// rows of weights.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn starts<F: Format, const N: usize>(
    x: [&Int8SuperBlock; N],
) -> [[i32; SUPER_BLOCK / SUM]; N] {
    let mut starts = [[0; SUPER_BLOCK / SUM]; N];
    if let Zero::Offset(offset) = F::ZERO {
        for n in 0..N {
            for (start, &sum) in starts[n].iter_mut().zip(&x[n].sums) {
                *start = -i32::from(offset) * i32::from(sum);
            }
        }
    }
    starts
}
