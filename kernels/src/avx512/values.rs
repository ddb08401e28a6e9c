//! Computes weighted sums of attention's values, a tile at a time, with 512-bit instructions. Each
//! value that is read is used for several queries, and each weight for several values.

use std::arch::x86_64::*;

use half::f16;

use super::tiles::{LANES, QUERIES, load};
use crate::loops::TILE;

/// Computes [`tile_sum`](crate::vector::tile_sum) for a `dim` that is a multiple of [`LANES`].
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) fn tile_sum(weights: &[f32], factors: &[f32], v: &[f32], dim: usize, out: &mut [f32]) {
    let mut first = 0;
    while first < factors.len() {
        let (weights, factors, out) =
            (&weights[first * TILE..], &factors[first..], &mut out[first * dim..]);
        first += match factors.len() {
            QUERIES.. => sum::<QUERIES>(weights, factors, v, dim, out),
            3 => sum::<3>(weights, factors, v, dim, out),
            2 => sum::<2>(weights, factors, v, dim, out),
            _ => sum::<1>(weights, factors, v, dim, out),
        };
    }
}

/// Computes the weighted sums of the values for the first `N` queries, and returns `N`.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum<const N: usize>(
    weights: &[f32],
    factors: &[f32],
    v: &[f32],
    dim: usize,
    out: &mut [f32],
) -> usize {
    let weights = weights.as_chunks().0.first_chunk().expect("one per query");
    let factors = factors.first_chunk().expect("one per query");
    let mut d = 0;
    while d < dim {
        d += LANES
            * match (dim - d) / LANES {
                4.. => sum_columns::<N, 4>(weights, factors, v, (d, dim), out),
                2.. => sum_columns::<N, 2>(weights, factors, v, (d, dim), out),
                _ => sum_columns::<N, 1>(weights, factors, v, (d, dim), out),
            };
    }
    N
}

/// Computes `V` vectors of each sum, starting at column `d`, and returns `V`. With four queries
/// times four vectors in registers, each value and each weight that is read is used four times, and
/// no sum has to wait for the product before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_columns<const N: usize, const V: usize>(
    weights: &[[f32; TILE]; N],
    factors: &[f32; N],
    v: &[f32],
    (d, dim): (usize, usize),
    out: &mut [f32],
) -> usize {
    let mut sums = [[_mm512_setzero_ps(); V]; N];
    for n in 0..N {
        for i in 0..V {
            let out = load(out, n * dim + d + i * LANES);
            sums[n][i] = _mm512_mul_ps(_mm512_set1_ps(factors[n]), out);
        }
    }
    for (j, v) in v.chunks_exact(dim).take(TILE).enumerate() {
        let v = &v[d..][..V * LANES];
        for n in 0..N {
            let weight = _mm512_set1_ps(weights[n][j]);
            for i in 0..V {
                sums[n][i] = _mm512_fmadd_ps(weight, load(v, i * LANES), sums[n][i]);
            }
        }
    }
    for n in 0..N {
        for i in 0..V {
            let out = &mut out[n * dim + d + i * LANES..][..LANES];
            // SAFETY: `out` has 16 numbers.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), sums[n][i]) };
        }
    }
    V
}

/// Converts half precision to single precision. Both slices are `[n]`.
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) fn widen(x: &[f16], out: &mut [f32]) {
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    for (x, out) in x.iter().zip(out) {
        // SAFETY: reads 16 numbers of 16 bits (32 bytes), and writes 16 of 32 bits (64 bytes).
        unsafe {
            _mm512_storeu_ps(
                out.as_mut_ptr(),
                _mm512_cvtph_ps(_mm256_loadu_si256(x.as_ptr().cast())),
            );
        };
    }
    for (x, out) in x_rest.iter().zip(out_rest) {
        *out = x.to_f32();
    }
}
