//! Float weights: each is widened to 32 bits and multiplied by activations that were not quantized.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::lanes::{load_half, sum};
use crate::{
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::{LINE, distance, prefetch},
    streams::{STREAMS, each_four_by},
};

/// Number of rows of activations that are multiplied at once by four rows of weights. The sums of
/// more rows wouldn't fit into the registers.
const ROWS: usize = 2;
/// Number of elements of a vector.
const LANES: usize = 8;

/// Multiplies f32 weights. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn f32(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: the load reads 32 bytes, which is eight numbers of 32 bits.
    let widen = |bytes: &[[u8; 4]; LANES]| unsafe { _mm256_loadu_ps(bytes.as_ptr().cast()) };
    product(weight, x, tile, widen, f32::from_le_bytes);
}

/// Multiplies f16 weights. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn f16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| _mm256_cvtph_ps(load_half(bytemuck::cast_ref(bytes)));
    product(weight, x, tile, widen, |bytes| f16::from_le_bytes(bytes).to_f32());
}

/// Multiplies bf16 weights. See [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn bf16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        let wide = _mm256_cvtepu16_epi32(load_half(bytemuck::cast_ref(bytes)));
        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
    };
    product(weight, x, tile, widen, |bytes| bf16::from_le_bytes(bytes).to_f32());
}

/// Converts half precision to single precision. Both slices are `[n]`.
#[target_feature(enable = "avx2,f16c")]
pub(crate) fn widen(x: &[f16], out: &mut [f32]) {
    let (x, x_rest) = x.as_chunks::<LANES>();
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    for (x, out) in x.iter().zip(out) {
        // SAFETY: reads eight numbers of 16 bits (16 bytes), and writes eight of 32 bits (32
        // bytes).
        unsafe {
            let wide = _mm256_cvtph_ps(_mm_loadu_si128(x.as_ptr().cast()));
            _mm256_storeu_ps(out.as_mut_ptr(), wide);
        }
    }
    for (x, out) in x_rest.iter().zip(out_rest) {
        *out = x.to_f32();
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn product<const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m256 + Copy,
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
#[target_feature(enable = "avx2,fma,f16c")]
fn dot<const BYTES: usize, const N: usize>(
    rows: [&[u8]; STREAMS],
    x: [&[f32]; N],
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m256,
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
    let mut sums = [[_mm256_setzero_ps(); STREAMS]; N];
    for i in 0..n {
        let mut weights = [_mm256_setzero_ps(); STREAMS];
        for s in 0..STREAMS {
            if (i * BYTES * LANES).is_multiple_of(LINE) {
                prefetch(vectors[s][i].as_flattened(), ahead);
            }
            weights[s] = widen(&vectors[s][i]);
        }
        for t in 0..N {
            // SAFETY: the load reads 32 bytes, which is eight numbers of 32 bits.
            let x = unsafe { _mm256_loadu_ps(numbers[t][i].as_ptr()) };
            for s in 0..STREAMS {
                sums[t][s] = _mm256_fmadd_ps(weights[s], x, sums[t][s]);
            }
        }
    }
    let mut out = [[0.0; STREAMS]; N];
    for t in 0..N {
        for s in 0..STREAMS {
            out[t][s] = sum(sums[t][s]);
            if !rest[s].is_empty() {
                let rest = rest[s].iter().zip(x_rest[t]);
                out[t][s] += rest.map(|(bytes, x)| value(*bytes) * x).sum::<f32>();
            }
        }
    }
    out
}
