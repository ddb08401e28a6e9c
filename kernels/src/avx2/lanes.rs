//! Helpers of all AVX2 kernels: loads, broadcasts, and sums over lanes.

use std::arch::x86_64::*;

use crate::blocks::mxfp4;

/// Loads 32 bytes from any address.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 bytes, and this load requires no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Loads 32 activations.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load_signed(values: &[i8; 32]) -> __m256i {
    // SAFETY: the reference is to 32 bytes, and this load requires no alignment.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// Loads 16 sums of 16 activations each.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load_sums(sums: &[i16; 16]) -> __m256i {
    // SAFETY: the reference is to 32 bytes, and this load requires no alignment.
    unsafe { _mm256_loadu_si256(sums.as_ptr().cast()) }
}

/// Loads eight numbers from any address.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_floats(numbers: &[f32; 8]) -> __m256 {
    // SAFETY: the reference is to 32 bytes, and this load requires no alignment.
    unsafe { _mm256_loadu_ps(numbers.as_ptr()) }
}

/// Loads 16 bytes from any address.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference is to 16 bytes, and this load requires no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Converts the half-precision number in these two bytes to f32, in the first lane.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn half([low, high]: [u8; 2]) -> __m128 {
    _mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(u16::from_le_bytes([low, high]))))
}

/// Converts the half-precision number in these two bytes to f32, and copies it to all eight lanes.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub fn halves(bytes: [u8; 2]) -> __m256 {
    _mm256_broadcastss_ps(half(bytes))
}

/// Returns the sum of all eight lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn sum(x: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}

/// Returns the half-precision numbers at byte `AT` of up to eight blocks as f32: first those of the
/// even blocks, then those of the odd blocks. Returns 0 for missing blocks.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn halves_in_pairs<const AT: usize, const BYTES: usize>(
    blocks: &[[u8; BYTES]],
) -> __m256 {
    // The words are assembled in integer registers, because the vector units are busy.
    let word = |b: usize| {
        blocks.get(b).map_or(0, |block| u64::from(u16::from_le_bytes([block[AT], block[AT + 1]])))
    };
    let four =
        |b: usize| (word(b) | word(b + 2) << 16 | word(b + 4) << 32 | word(b + 6) << 48) as i64;
    _mm256_cvtph_ps(_mm_set_epi64x(four(1), four(0)))
}

/// Returns the powers of two with which up to eight blocks begin, each divided by two: first those
/// of the even blocks, then those of the odd blocks. Returns 0 for missing blocks.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn powers_in_pairs<const BYTES: usize>(blocks: &[[u8; BYTES]]) -> __m256 {
    let power = |b: usize| blocks.get(b).map_or(0.0, |block| mxfp4::half_of_scale(block[0]));
    _mm256_setr_ps(power(0), power(2), power(4), power(6), power(1), power(3), power(5), power(7))
}

/// Returns the low nibbles of 16 bytes, then the high nibbles.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn nibbles(bytes: &[u8; 16]) -> __m256i {
    let twice = _mm256_broadcastsi128_si256(load_half(bytes));
    _mm256_and_si256(
        _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4)),
        _mm256_set1_epi8(15),
    )
}

/// Returns `codes` with 16 added to each lane `i` whose bit `i` of `bits` is set.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn with_fifth(codes: __m256i, bits: [u8; 4]) -> __m256i {
    // Lane i tests bit i % 8 of byte i / 8 of the bits.
    let bits = _mm256_set1_epi32(i32::from_le_bytes(bits));
    let spread =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let set = _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, spread), own), own);
    _mm256_or_si256(codes, _mm256_and_si256(set, _mm256_set1_epi8(16)))
}

/// Returns the `N` bytes of `block` that begin at byte `at`.
#[inline(always)]
pub(super) fn part<const N: usize>(block: &[u8], at: usize) -> &[u8; N] {
    block[at..].first_chunk().expect("N bytes")
}
