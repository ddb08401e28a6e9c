//! Loads and stores on slices, and vectors assembled from 16-byte pieces.

use std::arch::{asm, x86_64::*};

/// Loads 32 numbers of 16 bits.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn sixteen_bits(numbers: &[i16; 32]) -> __m512i {
    // SAFETY: the load reads 64 bytes, which is 32 numbers of 16 bits.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Loads 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference is to 64 bytes.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Loads 64 bytes, starting at byte `from`, with zeros past the end.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn load64_or_zeros(bytes: &[u8], from: usize) -> __m512i {
    if from + 64 <= bytes.len() {
        return load64(part(bytes, from));
    }
    let there = bytes.len().saturating_sub(from);
    // SAFETY: bytes whose mask bit is 0 are not read.
    unsafe { _mm512_maskz_loadu_epi8((1 << there) - 1, bytes.as_ptr().wrapping_add(from).cast()) }
}

/// Loads 32 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load32(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 bytes.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Loads 16 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is to 16 bytes.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Loads four pieces of 16 bytes, one into each lane, directly from memory. Without `asm!`, the
/// compiler would load the pieces separately, and combine them in the execution unit that moves
/// bytes between lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load_lanes(pieces: [&[u8; 16]; 4]) -> __m512i {
    let mut v;
    // SAFETY: each of the four pieces has 16 bytes.
    unsafe {
        asm!(
            "vbroadcasti32x4 {v}, [{a}]",
            "vinserti32x4 {v}, {v}, [{b}], 1",
            "vinserti32x4 {v}, {v}, [{c}], 2",
            "vinserti32x4 {v}, {v}, [{d}], 3",
            v = out(zmm_reg) v,
            a = in(reg) pieces[0],
            b = in(reg) pieces[1],
            c = in(reg) pieces[2],
            d = in(reg) pieces[3],
            options(pure, readonly, nostack, preserves_flags)
        );
    };
    v
}

/// Returns `N` elements, starting at index `at`.
#[inline(always)]
pub(crate) fn part<T, const N: usize>(all: &[T], at: usize) -> &[T; N] {
    all[at..].first_chunk().expect("N of them")
}

/// Returns each of eight numbers twice.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn twice(numbers: __m256) -> __m512 {
    let index = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    _mm512_permutexvar_ps(index, _mm512_castps256_ps512(numbers))
}

/// Loads 64 numbers of 8 bits, starting at index `at`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn values_at(values: &[i8], at: usize) -> __m512i {
    load64(part(bytemuck::cast_slice(values), at))
}

/// Converts two consecutive half-precision numbers to f32. The other lanes are 0.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(super) fn two_halves(bytes: &[u8; 4]) -> __m128 {
    _mm_cvtph_ps(_mm_cvtsi32_si128(i32::from_le_bytes(*bytes)))
}

/// Converts a half-precision number to f32. The other lanes are 0.
#[inline]
#[target_feature(enable = "avx512vl,f16c")]
pub(super) fn one_half(bytes: &[u8; 2]) -> __m128 {
    _mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes(*bytes))))
}

/// Transposes a matrix: 32-bit number `j` of `v[i]` becomes number `i` of element `j` of the
/// result.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose(v: [__m512i; 16]) -> [__m512i; 16] {
    // Interleaves pairs of rows, then groups of four, within each 128-bit lane. Then moves lanes.
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
