//! Loads and stores on slices, and vectors put together from 16-byte pieces.

use std::arch::x86_64::*;

use crate::week2::input::Int8Group;

/// The columns of a group in 16 pieces of 16: which piece lies in which lane of the four vectors that a format's unpacking gives.
pub(super) type Order = [usize; 16];

/// 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 32 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load32(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 bytes are there.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// 16 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes are there.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Four times 16 bytes, one in each lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_lanes(pieces: [&[u8; 16]; 4]) -> __m512i {
    let v = _mm512_castsi128_si512(load16(pieces[0]));
    let v = _mm512_inserti32x4::<1>(v, load16(pieces[1]));
    let v = _mm512_inserti32x4::<2>(v, load16(pieces[2]));
    _mm512_inserti32x4::<3>(v, load16(pieces[3]))
}

/// The `N` bytes, or numbers, at `at`.
#[inline(always)]
pub(super) fn part<T, const N: usize>(all: &[T], at: usize) -> &[T; N] {
    all[at..].first_chunk().expect("N of them")
}

/// Four numbers, each in all of its lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lanes(numbers: &[f32; 4]) -> __m512 {
    // SAFETY: four numbers of 32 bits are there.
    let numbers = unsafe { _mm_loadu_ps(numbers.as_ptr()) };
    _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3), _mm512_castps128_ps512(numbers))
}

/// 64 activations of a group, from `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn values_at(x: &Int8Group, at: usize) -> __m512i {
    load64(part(bytemuck::cast_slice(&x.values), at))
}

/// Two half-precision numbers, one after the other.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(super) fn two_halves(bytes: &[u8; 4]) -> __m128 {
    _mm_cvtph_ps(_mm_cvtsi32_si128(i32::from_le_bytes(*bytes)))
}

/// A half-precision number, and the same times `factor`.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(super) fn half_and_times(bytes: &[u8; 2], factor: f32) -> __m128 {
    let half = i32::from(u16::from_le_bytes(*bytes));
    _mm_mul_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(half | half << 16)), _mm_setr_ps(1.0, factor, 0.0, 0.0))
}

/// Rows become columns: 32-bit number `j` of `v[i]` becomes number `i` of the result's `j`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(v: [__m512i; 16]) -> [__m512i; 16] {
    // Pairs of rows, then fours, within each 128-bit lane; then the lanes.
    let mut a = v;
    for i in 0..8 {
        a[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    let mut b = a;
    for i in 0..4 {
        for j in 0..2 {
            b[4 * i + 2 * j] = _mm512_unpacklo_epi64(a[4 * i + j], a[4 * i + 2 + j]);
            b[4 * i + 2 * j + 1] = _mm512_unpackhi_epi64(a[4 * i + j], a[4 * i + 2 + j]);
        }
    }
    // b[4i + j]: number 4l + j of rows 4i to 4i + 3, in lane l.
    let mut out = b;
    for j in 0..4 {
        let even = _mm512_shuffle_i32x4::<0b10_00_10_00>(b[j], b[4 + j]);
        let odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(b[j], b[4 + j]);
        let even_above = _mm512_shuffle_i32x4::<0b10_00_10_00>(b[8 + j], b[12 + j]);
        let odd_above = _mm512_shuffle_i32x4::<0b11_01_11_01>(b[8 + j], b[12 + j]);
        out[j] = _mm512_shuffle_i32x4::<0b10_00_10_00>(even, even_above);
        out[4 + j] = _mm512_shuffle_i32x4::<0b10_00_10_00>(odd, odd_above);
        out[8 + j] = _mm512_shuffle_i32x4::<0b11_01_11_01>(even, even_above);
        out[12 + j] = _mm512_shuffle_i32x4::<0b11_01_11_01>(odd, odd_above);
    }
    out
}
