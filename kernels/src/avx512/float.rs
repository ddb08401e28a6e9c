//! Plain floats: each is widened to 32 bits and multiplied with activations that were not
//! quantized.

use std::arch::x86_64::*;

use half::{bf16, f16};

use crate::{
    input::Input,
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Numbers in a vector.
const LANES: usize = 16;

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn f32(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: 16 numbers of 32 bits are 64 bytes.
    let widen = |bytes: &[[u8; 4]; LANES]| unsafe { _mm512_loadu_ps(bytes.as_ptr().cast()) };
    each_four(weight, tile, |rows, t| dot(rows, x.row(t), widen, f32::from_le_bytes));
}

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn f16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    // SAFETY: 16 numbers of 16 bits are 32 bytes.
    let widen = |bytes: &[[u8; 2]; LANES]| unsafe {
        _mm512_cvtph_ps(_mm256_loadu_si256(bytes.as_ptr().cast()))
    };
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| f16::from_le_bytes(bytes).to_f32())
    });
}

/// A [`Kernel`](crate::Kernel).
#[target_feature(enable = "avx512f")]
pub(super) fn bf16(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    let widen = |bytes: &[[u8; 2]; LANES]| {
        // SAFETY: 16 numbers of 16 bits are 32 bytes.
        let halves = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves)))
    };
    each_four(weight, tile, |rows, t| {
        dot(rows, x.row(t), widen, |bytes| bf16::from_le_bytes(bytes).to_f32())
    });
}

#[inline]
#[target_feature(enable = "avx512f")]
fn dot<const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[f32],
    widen: impl Fn(&[[u8; BYTES]; LANES]) -> __m512,
    value: impl Fn([u8; BYTES]) -> f32,
) -> [f32; STREAMS] {
    let rows = rows.map(|row| row.as_chunks::<BYTES>().0);
    let (vectors, rest) =
        (rows.map(|row| row.as_chunks::<LANES>().0), rows.map(|row| row.as_chunks::<LANES>().1));
    let ahead = distance();
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let (x, x_rest) = x.as_chunks::<LANES>();
    for (i, x) in x.iter().enumerate() {
        // SAFETY: 16 numbers of 32 bits are 64 bytes.
        let x = unsafe { _mm512_loadu_ps(x.as_ptr()) };
        for s in 0..STREAMS {
            prefetch(vectors[s][i].as_flattened(), ahead);
            sums[s] = _mm512_fmadd_ps(widen(&vectors[s][i]), x, sums[s]);
        }
    }
    let mut out = [0.0; STREAMS];
    for s in 0..STREAMS {
        let rest: f32 = rest[s].iter().zip(x_rest).map(|(bytes, x)| value(*bytes) * x).sum();
        out[s] = _mm512_reduce_add_ps(sums[s]) + rest;
    }
    out
}
