//! Repacked weights times a few rows of activations. Memory bandwidth is the limit, and a core
//! reads memory faster as a few long streams than as many short ones. So a tile's rows of weights
//! are divided into two halves, each of which is read from its first byte to its last.
//!
//! In memory order, sums that are added to the same total are far apart, so several totals are
//! accumulated at the same time. The totals are added in the order that [`fours`](super::fours)
//! describes.

use std::arch::x86_64::*;

use super::{
    panel::{Factors, LANES},
    product::{starts_and_totals, store},
    sixteen_rows::blocks,
    sums::{Sums, four_at, integers},
    superproduct::{chain, chain_of, finish, starts},
};
use crate::{
    format::{Format, Zero, scale_per_block},
    input::{Input, Int8SuperBlock, SUM, SUPER_BLOCK},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{behind, prefetch},
};

/// Computes a tile of the output for up to `N` rows of activations. `set` and `code` must unpack
/// weights, as for `multiply` in `side_by_side.rs`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn few<F: Format, const WIDE: usize, const N: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    set: impl Fn(&mut Factors, usize, &[u8; WIDE]),
    code: impl Fn(&[u8; WIDE], usize) -> __m512i,
) {
    let (cols, tokens, ahead) = (tile.cols(), tile.rows(), behind(WIDE));
    let half = cols.len().div_ceil(2 * LANES) * LANES;
    let mut factors = [Factors::zeros(); 2];
    for first in (cols.start..cols.start + half).step_by(LANES) {
        let rows = [first, first + half];
        let mut sums = [[_mm512_setzero_ps(); 2]; N];
        for g in 0..x.super_blocks() {
            let blocks = rows.map(|row| blocks::<WIDE>(weight, row, g));
            // Rows past the end repeat the last row. Their results aren't written.
            let token = |n: usize| (tokens.start + n).min(tokens.end - 1);
            let x: [&Int8SuperBlock; N] = std::array::from_fn(|n| &x.int8_row(token(n))[g]);
            if scale_per_block::<F>() {
                add_blocks::<F, WIDE, N>(blocks, &mut factors, x, (&set, &code), ahead, &mut sums);
            } else {
                let blocks = blocks.map(|blocks| &blocks[0]);
                for (factors, block) in factors.iter_mut().zip(blocks) {
                    set(factors, 0, block);
                }
                add_super_block::<F, WIDE, N>(blocks, &factors, x, &code, ahead, &mut sums);
            }
        }
        for (t, sums) in tokens.clone().zip(sums) {
            for (row, sum) in rows.into_iter().zip(sums) {
                if row < cols.end {
                    let there = LANES.min(cols.end - row);
                    store([sum; 2], &mut tile.row_mut(t)[row - cols.start..][..there]);
                }
            }
        }
    }
}

/// Multiplies up to eight blocks of 32 columns of both halves of a tile by `x`, and adds the
/// products to `out`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn add_blocks<F: Format, const WIDE: usize, const N: usize>(
    blocks: [&[[u8; WIDE]]; 2],
    factors: &mut [Factors; 2],
    x: [&Int8SuperBlock; N],
    (set, code): (
        impl Fn(&mut Factors, usize, &[u8; WIDE]),
        impl Fn(&[u8; WIDE], usize) -> __m512i,
    ),
    ahead: usize,
    out: &mut [Sums; N],
) {
    let (starts, totals) = starts_and_totals::<F, N>(x);
    let mut pairs = [[[_mm512_setzero_ps(); 2]; N]; 4];
    for (b, (first, second)) in blocks[0].iter().zip(blocks[1]).enumerate() {
        let both = [first, second];
        for (factors, block) in factors.iter_mut().zip(both) {
            prefetch(block, ahead);
            set(factors, 0, block);
        }
        let code = |h: usize, i: usize| code(both[h], i % 8);
        let sums = integers!(F, N, code, x, b, starts);
        for n in 0..N {
            for h in 0..2 {
                let pair = &mut pairs[b % 4][n][h];
                let x_scale = _mm512_set1_ps(x[n].scales[b]);
                let scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[n][h]), x_scale);
                *pair = _mm512_fmadd_ps(scaled, _mm512_castsi512_ps(factors[h].scales[0]), *pair);
                if F::ZERO == Zero::Minimum {
                    let minimum = _mm512_castsi512_ps(factors[h].minimums[0]);
                    *pair = _mm512_fmadd_ps(minimum, _mm512_set1_ps(totals[n][b]), *pair);
                }
            }
        }
    }
    for n in 0..N {
        for h in 0..2 {
            let pair = |l: usize| pairs[l][n][h];
            let (even, odd) = (_mm512_add_ps(pair(0), pair(2)), _mm512_add_ps(pair(1), pair(3)));
            out[n][h] = _mm512_add_ps(out[n][h], _mm512_add_ps(even, odd));
        }
    }
}

/// Multiplies a block of 256 columns of both halves of a tile by `x`, and adds the products to
/// `out`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn add_super_block<F: Format, const WIDE: usize, const N: usize>(
    blocks: [&[u8; WIDE]; 2],
    factors: &[Factors; 2],
    x: [&Int8SuperBlock; N],
    code: impl Fn(&[u8; WIDE], usize) -> __m512i,
    ahead: usize,
    out: &mut [Sums; N],
) {
    let (starts, code) = (starts::<F, N>(x), |h: usize, i: usize| code(blocks[h], i));
    let pieces = const { SUPER_BLOCK / F::PER_SCALE };
    let mut chains = [[[_mm512_setzero_ps(); 2]; N]; 8];
    for piece in 0..pieces {
        for block in blocks {
            prefetch(&block[piece * (WIDE / pieces)..][..WIDE / pieces], ahead);
        }
        let sums = integers!(F, N, code, x, piece, starts);
        let chain = &mut chains[const { chain_of::<F>() }[piece]];
        for n in 0..N {
            for h in 0..2 {
                let scale = _mm512_castsi512_ps(factors[h].scales[piece * F::PER_SCALE / SUM]);
                let sum = _mm512_cvtepi32_ps(sums[n][h]);
                chain[n][h] = _mm512_fmadd_ps(sum, scale, chain[n][h]);
            }
        }
    }
    // Adds neighbouring totals until one is left.
    let mut len = const { SUPER_BLOCK / F::PER_SCALE / chain::<F>() };
    while len > 1 {
        len /= 2;
        for i in 0..len {
            for n in 0..N {
                for h in 0..2 {
                    chains[i][n][h] = _mm512_add_ps(chains[2 * i][n][h], chains[2 * i + 1][n][h]);
                }
            }
        }
    }
    finish::<F, N>([&factors[0], &factors[1]], x, &chains[0], out);
}
