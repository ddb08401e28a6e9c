//! Plain floats: each is widened to 32 bits and multiplied with activations that were not
//! quantized.

use std::arch::x86_64::*;

use half::{bf16, f16};

use super::lanes::{load_half, sum};
use crate::{
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Numbers in a vector.
const LANES: usize = 8;

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn f32(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: eight numbers of 32 bits are 32 bytes.
    let widen = |bytes: &[[u8; 4]; LANES]| unsafe { _mm256_loadu_ps(bytes.as_ptr().cast()) };
    each_four(weight, tile, |rows, t| dot(rows, x.row(t), widen, f32::from_le_bytes));
}

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn f16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| _mm256_cvtph_ps(load_half(bytemuck::cast_ref(bytes)));
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| f16::from_le_bytes(bytes).to_f32())
    });
}

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn bf16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        let wide = _mm256_cvtepu16_epi32(load_half(bytemuck::cast_ref(bytes)));
        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
    };
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| bf16::from_le_bytes(bytes).to_f32())
    });
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn dot<const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[f32],
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m256,
    value: impl Fn([u8; BYTES]) -> f32,
) -> [f32; STREAMS] {
    let rows = rows.map(|row| row.as_chunks::<BYTES>().0);
    let (vectors, rest) =
        (rows.map(|row| row.as_chunks::<LANES>().0), rows.map(|row| row.as_chunks::<LANES>().1));
    let ahead = distance();
    let mut sums = [_mm256_setzero_ps(); STREAMS];
    let (x, x_rest) = x.as_chunks::<LANES>();
    for (i, x) in x.iter().enumerate() {
        // SAFETY: eight numbers of 32 bits are 32 bytes.
        let x = unsafe { _mm256_loadu_ps(x.as_ptr()) };
        for s in 0..STREAMS {
            prefetch(vectors[s][i].as_flattened(), ahead);
            sums[s] = _mm256_fmadd_ps(widen(&vectors[s][i]), x, sums[s]);
        }
    }
    let mut out = [0.0; STREAMS];
    for s in 0..STREAMS {
        let rest: f32 = rest[s].iter().zip(x_rest).map(|(bytes, x)| value(*bytes) * x).sum();
        out[s] = sum(sums[s]) + rest;
    }
    out
}
