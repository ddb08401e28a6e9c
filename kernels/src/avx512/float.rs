//! Float weights: each is widened to 32 bits and multiplied by activations that were not quantized.

use std::arch::x86_64::*;

use half::{bf16, f16};

use crate::{
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::{LINE, distance, prefetch},
    streams::{STREAMS, each_four_by},
};

/// Number of rows of activations that are multiplied at once by four rows of weights. The sums of
/// more rows wouldn't fit into the registers.
const ROWS: usize = 4;
/// Number of elements of a vector.
const LANES: usize = 16;

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn f32(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: the load reads 64 bytes, which is 16 numbers of 32 bits.
    let widen = |bytes: &[[u8; 4]; LANES]| unsafe { _mm512_loadu_ps(bytes.as_ptr().cast()) };
    product(weight, x, tile, widen, f32::from_le_bytes);
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn f16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: the load reads 32 bytes, which is 16 numbers of 16 bits.
    let widen = |bytes: &[[u8; 2]; LANES]| unsafe {
        _mm512_cvtph_ps(_mm256_loadu_si256(bytes.as_ptr().cast()))
    };
    product(weight, x, tile, widen, |bytes| f16::from_le_bytes(bytes).to_f32());
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn bf16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        // SAFETY: the load reads 32 bytes, which is 16 numbers of 16 bits.
        let halves = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
    };
    product(weight, x, tile, widen, |bytes| bf16::from_le_bytes(bytes).to_f32());
}

#[inline]
#[target_feature(enable = "avx512f")]
fn product<const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m512 + Copy,
    value: impl Fn([u8; BYTES]) -> f32 + Copy,
) {
    each_four_by::<ROWS>(
        weight,
        tile,
        |rows, t| {
            let mut several = [&[][..]; ROWS];
            for (i, row) in several.iter_mut().enumerate() {
                *row = x.row(t + i);
            }
            dot(rows, several, widen, value)
        },
        |rows, t| dot(rows, [x.row(t)], widen, value)[0],
    );
}

/// Computes the dot products of four rows of weights and `N` rows of activations. Each has its own
/// vector of sums, and its elements are added from the first to the last. So it does not depend on
/// the other rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn dot<const BYTES: usize, const N: usize>(
    rows: [&[u8]; STREAMS],
    x: [&[f32]; N],
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m512,
    value: impl Fn([u8; BYTES]) -> f32,
) -> [[f32; STREAMS]; N] {
    let n = x[0].len() / LANES;
    let (mut vectors, mut rest) = ([&[][..]; STREAMS], [&[][..]; STREAMS]);
    for s in 0..STREAMS {
        let (all, left) = rows[s].as_chunks::<BYTES>().0.as_chunks::<LANES>();
        (vectors[s], rest[s]) = (&all[..n], left);
    }
    let (mut numbers, mut x_rest) = ([&[][..]; N], [&[][..]; N]);
    for t in 0..N {
        let (all, left) = x[t].as_chunks::<LANES>();
        (numbers[t], x_rest[t]) = (&all[..n], left);
    }
    let ahead = distance();
    let mut sums = [[_mm512_setzero_ps(); STREAMS]; N];
    for i in 0..n {
        let mut weights = [_mm512_setzero_ps(); STREAMS];
        for s in 0..STREAMS {
            if (i * BYTES * LANES).is_multiple_of(LINE) {
                prefetch(vectors[s][i].as_flattened(), ahead);
            }
            weights[s] = widen(&vectors[s][i]);
        }
        for t in 0..N {
            // SAFETY: the load reads 64 bytes, which is 16 numbers of 32 bits.
            let x = unsafe { _mm512_loadu_ps(numbers[t][i].as_ptr()) };
            for s in 0..STREAMS {
                sums[t][s] = _mm512_fmadd_ps(weights[s], x, sums[t][s]);
            }
        }
    }
    let mut out = [[0.0; STREAMS]; N];
    for t in 0..N {
        out[t] = add_up(sums[t]);
        for s in 0..STREAMS {
            if !rest[s].is_empty() {
                let rest = rest[s].iter().zip(x_rest[t]);
                out[t][s] += rest.map(|(bytes, x)| value(*bytes) * x).sum::<f32>();
            }
        }
    }
    out
}

/// Returns the sum of each vector. Adds the four side by side: for short rows, adding them
/// separately would take as long as the products.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_up([a, b, c, d]: [__m512; STREAMS]) -> [f32; STREAMS] {
    let two = |x, y| _mm512_add_ps(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y));
    let (ab, cd) = (_mm512_castps_pd(two(a, b)), _mm512_castps_pd(two(c, d)));
    let (low, high) = (_mm512_unpacklo_pd(ab, cd), _mm512_unpackhi_pd(ab, cd));
    let lanes = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(lanes));
    let halves = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm256_castpd_ps(high));
    let sums = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps::<1>(halves));
    let mut out = [0.0; STREAMS];
    // SAFETY: the store writes 16 bytes, which is four numbers of 32 bits.
    unsafe { _mm_storeu_ps(out.as_mut_ptr(), sums) };
    out
}
