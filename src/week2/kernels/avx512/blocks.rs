//! Formats whose blocks have 32 weights of 4 or 5 bits and scales in half precision, times few rows of activations.
//!
//! Four blocks at a time: one vector of the first halves of their weights and one of the second halves, each block in a lane of its own.
//! So one vector of sums, converted once, meets one vector of scales.

use std::arch::x86_64::*;

use super::{
    lanes::{Order, lanes, part, values_at},
    panel::Row,
    streams::{STREAMS, each_four},
};
use crate::week2::{
    input::{Input, Int8Group},
    kernels::prefetch::{distance, prefetch},
    matrix::Matrix,
    parallel::Tile,
};

/// First and second halves of blocks lie in different vectors.
pub(super) const ORDER: Order = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];

/// Four blocks out of their bytes.
pub(super) struct Quad {
    /// Unsigned: the first 16 of each block, then the others.
    pub(super) codes: [__m512i; 2],
    /// Each block's scale, in all of its lane.
    pub(super) scales: __m512,
    /// The same of its minimum.
    pub(super) minimums: __m512,
}

/// A [`Kernel`](crate::week2::kernels::Kernel): `unpack` is given the bytes of four blocks. A weight is `scale · (code − OFFSET)`, or
/// where there is a `MINIMUM`, `scale · code + minimum`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    unpack: impl Fn(&[u8; BYTES]) -> Quad + Copy,
) {
    each_four(weight, tile, |rows, t| dot::<BYTES, OFFSET, MINIMUM>(rows, x.int8_row(t), unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    rows: [&[u8]; STREAMS],
    x: &[Int8Group],
    unpack: impl Fn(&[u8; BYTES]) -> Quad,
) -> [f32; STREAMS] {
    let quads = rows[0].len() / BYTES;
    let ahead = distance();
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let mut at: [*const u8; STREAMS] = [rows[0].as_ptr(), rows[1].as_ptr(), rows[2].as_ptr(), rows[3].as_ptr()];
    let mut padded = [[0; 192]; STREAMS];
    let rest = rows[0].len() % BYTES;
    for q in 0..quads + usize::from(rest > 0) {
        if q == quads {
            // Blocks of zeros fill up the last four.
            for s in 0..STREAMS {
                pad(&rows[s][quads * BYTES..], &mut padded[s]);
                at[s] = padded[s].as_ptr();
            }
        }
        let (x, half) = (&x[q / 2], q % 2 * 128);
        let (a, b) = (values_at(x, half), values_at(x, half + 64));
        let x0 = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        let x1 = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        // What the offset takes off, and what the minimum is multiplied with, is the same for all rows.
        let start = _mm512_sub_epi32(_mm512_setzero_si512(), times(OFFSET, x0, x1));
        let totals = _mm512_cvtepi32_ps(times(1, x0, x1));
        let scale = lanes(part(&x.scales, q % 2 * 4));
        for s in 0..STREAMS {
            prefetch::<BYTES>(at[s], ahead);
            // SAFETY: `quads` times so many bytes are in each row, and as many in `padded`.
            let quad = unpack(unsafe { &*at[s].cast() });
            let products = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start, quad.codes[0], x0), quad.codes[1], x1);
            let mut sum = _mm512_mul_ps(_mm512_cvtepi32_ps(products), quad.scales);
            if MINIMUM {
                sum = _mm512_fmadd_ps(totals, quad.minimums, sum);
            }
            sums[s] = _mm512_fmadd_ps(sum, scale, sums[s]);
            at[s] = at[s].wrapping_add(BYTES);
        }
    }
    let mut out = [0.0; STREAMS];
    for s in 0..STREAMS {
        out[s] = _mm512_reduce_add_ps(sums[s]);
    }
    out
}

/// Copies fewer bytes than four blocks have, and fills up with zeros.
#[inline]
#[target_feature(enable = "avx512bw")]
fn pad(rest: &[u8], padded: &mut [u8; 192]) {
    for (i, padded) in padded.chunks_exact_mut(64).enumerate() {
        let bytes = rest.len().saturating_sub(64 * i).min(64) as u32;
        let mask = u64::MAX.checked_shr(64 - bytes).unwrap_or(0);
        // SAFETY: bytes that the mask does not name are not read; 64 are written.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(mask, rest.as_ptr().wrapping_add(64 * i).cast());
            _mm512_storeu_si512(padded.as_mut_ptr().cast(), bytes);
        }
    }
}

/// `n` times the activations, each four added up.
#[inline]
#[target_feature(enable = "avx512vnni")]
fn times(n: u8, x0: __m512i, x1: __m512i) -> __m512i {
    let n = _mm512_set1_epi8(n as i8);
    _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(_mm512_setzero_si512(), n, x0), n, x1)
}

/// Up to eight blocks out of their bytes, for a [`panel`](super::panel). `BYTES` are those of four.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(super) fn row<const BYTES: usize>(bytes: &[u8], unpack: impl Fn(&[u8; BYTES]) -> Quad) -> Row {
    let mut padded = [[0; BYTES]; 2];
    let pair: &[[u8; BYTES]; 2] = match bytes.as_chunks().0.try_into() {
        Ok(pair) => pair,
        Err(_) => {
            padded.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
            &padded
        }
    };
    let (a, b) = (unpack(&pair[0]), unpack(&pair[1]));
    // Number l of a vector is in lane l / 4; each of two times 16 columns of a block wants it.
    let pairs = _mm512_setr_epi32(0, 0, 4, 4, 8, 8, 12, 12, 16, 16, 20, 20, 24, 24, 28, 28);
    Row {
        codes: [a.codes[0], a.codes[1], b.codes[0], b.codes[1]],
        scales: _mm512_permutex2var_ps(a.scales, pairs, b.scales),
        minimums: _mm512_permutex2var_ps(a.minimums, pairs, b.minimums),
    }
}
