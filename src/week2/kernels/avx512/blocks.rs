//! Formats whose blocks have 32 weights and scales in half precision, times few rows of activations.
//!
//! Four blocks at a time: one vector of the first halves of their weights and one of the second halves, each block in a lane of its own.
//! So one vector of sums, converted once, meets one vector of scales.

use std::arch::x86_64::*;

use super::{
    lanes::{Order, load_lanes, load64, part},
    panel::Row,
    streams::{STREAMS, each_four, prefetch},
};
use crate::week2::{
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
};

/// First and second halves of blocks lie in different vectors.
pub(super) const ORDER: Order = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];

/// Four blocks in a row.
pub(super) type Quad<const BYTES: usize> = [[u8; BYTES]; 4];

/// The 16 bytes at `AT` in each of four blocks.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lanes_at<const BYTES: usize, const AT: usize>(quad: &Quad<BYTES>) -> __m512i {
    load_lanes([part(&quad[0], AT), part(&quad[1], AT), part(&quad[2], AT), part(&quad[3], AT)])
}

/// Two codes in each byte: the low halves belong to a block's first 16 weights, the high halves to the others.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn nibbles(bytes: __m512i) -> [__m512i; 2] {
    let low = _mm512_set1_epi8(15);
    [_mm512_and_si512(bytes, low), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), low)]
}

/// Adds the fifth bits of 32 weights, which stand at `AT` in each block, lowest first.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn with_fifth_bits<const BYTES: usize, const AT: usize>(codes: [__m512i; 2], quad: &Quad<BYTES>) -> [__m512i; 2] {
    let bits = |b: usize| i32::from_le_bytes(*part(&quad[b], AT));
    // Each block's 32 bits all over its lane; then to each byte the eight of them in which its bit is.
    let lane = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    let all = _mm512_permutexvar_epi32(lane, _mm512_castsi128_si512(_mm_set_epi32(bits(3), bits(2), bits(1), bits(0))));
    let own = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let with = |codes: __m512i, first: i64| {
        let eight = _mm512_broadcast_i32x4(_mm_set_epi64x((first + 1) * 0x0101_0101_0101_0101, first * 0x0101_0101_0101_0101));
        let set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(all, eight), own);
        _mm512_mask_add_epi8(codes, set, codes, _mm512_set1_epi8(16))
    };
    [with(codes[0], 0), with(codes[1], 2)]
}

/// The half-precision numbers at `AT` in each of four blocks.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(super) fn halves_at<const BYTES: usize, const AT: usize>(quad: &Quad<BYTES>) -> __m128 {
    let half = |b: usize| u64::from(u16::from_le_bytes(*part(&quad[b], AT))) << (16 * b);
    _mm_cvtph_ps(_mm_cvtsi64_si128((half(0) | half(1) | half(2) | half(3)) as i64))
}

/// Number `b` of four in all of lane `b`.
#[inline]
#[target_feature(enable = "avx512f")]
fn spread(four: __m128) -> __m512 {
    let lane = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    _mm512_permutexvar_ps(lane, _mm512_castps128_ps512(four))
}

/// A [`Kernel`](crate::week2::kernels::Kernel): `unpack` takes the unsigned codes out of four blocks. A weight is
/// `d · (code − OFFSET)`, or where there is a `MINIMUM`, `d · code + m`, with `d` in a block's first two bytes and `m` in the next.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    unpack: impl Fn(&Quad<BYTES>) -> [__m512i; 2] + Copy,
) {
    each_four(weight, tile, |rows, t| dot::<BYTES, OFFSET, MINIMUM>(rows.map(|row| row.as_chunks().0), x.int8_row(t), unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize, const OFFSET: u8, const MINIMUM: bool>(
    rows: [&[[u8; BYTES]]; STREAMS],
    x: &[Int8Group],
    unpack: impl Fn(&Quad<BYTES>) -> [__m512i; 2],
) -> [f32; STREAMS] {
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let mut step = |quads: [&Quad<BYTES>; STREAMS], x: &Int8Group, half: usize| {
        let (a, b) = (load64(part_of(&x.values, half * 128)), load64(part_of(&x.values, half * 128 + 64)));
        let x0 = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        let x1 = _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b);
        let zero = _mm512_setzero_si512();
        let times = |n: u8| _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(zero, _mm512_set1_epi8(n as i8), x0), _mm512_set1_epi8(n as i8), x1);
        // What the offset takes off, and what the minimum adds, is the same for all rows.
        let start = if OFFSET > 0 { _mm512_sub_epi32(zero, times(OFFSET)) } else { zero };
        let x_sums = if MINIMUM { _mm512_cvtepi32_ps(times(1)) } else { _mm512_setzero_ps() };
        let scale = _mm_set1_ps(x.scale);
        for s in 0..STREAMS {
            let codes = unpack(quads[s]);
            let products = _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(start, codes[0], x0), codes[1], x1);
            let d = spread(_mm_mul_ps(halves_at::<BYTES, 0>(quads[s]), scale));
            sums[s] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), d, sums[s]);
            if MINIMUM {
                let m = spread(_mm_mul_ps(halves_at::<BYTES, 2>(quads[s]), scale));
                sums[s] = _mm512_fmadd_ps(x_sums, m, sums[s]);
            }
        }
    };
    let (quads, rest) = (rows.map(|row| row.as_chunks::<4>().0), rows.map(|row| row.as_chunks::<4>().1));
    for q in 0..quads[0].len() {
        for quads in quads {
            prefetch(quads[q].as_ptr().cast());
        }
        step(quads.map(|quads| &quads[q]), &x[q / 2], q % 2);
    }
    if !rest[0].is_empty() {
        // Blocks of zeros fill up the last four.
        let mut last = [[[0; BYTES]; 4]; STREAMS];
        for (last, rest) in last.iter_mut().zip(rest) {
            last[..rest.len()].copy_from_slice(rest);
        }
        let q = quads[0].len();
        step(last.each_ref(), &x[q / 2], q % 2);
    }
    sums.map(|sums| _mm512_reduce_add_ps(sums))
}

/// 64 activations from `at` on.
#[inline(always)]
fn part_of(values: &[i8; 256], at: usize) -> &[u8; 64] {
    part(bytemuck::cast_ref::<[i8; 256], [u8; 256]>(values), at)
}

/// Up to eight blocks out of their bytes, for a [`panel`](super::panel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
pub(super) fn row<const BYTES: usize, const MINIMUM: bool>(bytes: &[u8], unpack: impl Fn(&Quad<BYTES>) -> [__m512i; 2]) -> Row {
    let mut eight = [[0; BYTES]; 8];
    eight.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
    let [a, b]: &[Quad<BYTES>; 2] = eight.as_chunks::<4>().0.try_into().expect("eight blocks");
    let ([a0, a1], [b0, b1]) = (unpack(a), unpack(b));
    // One number for a block is one for each of its two times 16 columns.
    let pairs = _mm512_set_epi32(7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
    let each = |a: __m128, b: __m128| _mm512_permutexvar_ps(pairs, _mm512_castps256_ps512(_mm256_set_m128(b, a)));
    let scales = each(halves_at::<BYTES, 0>(a), halves_at::<BYTES, 0>(b));
    let minimums = if MINIMUM { each(halves_at::<BYTES, 2>(a), halves_at::<BYTES, 2>(b)) } else { _mm512_setzero_ps() };
    Row { codes: [a0, a1, b0, b1], scales, minimums }
}
