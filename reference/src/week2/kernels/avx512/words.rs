//! Blocks of 18 to 24 bytes four at a time: their codes and scales are picked out of two vectors, 16-bit word by word.

use std::arch::x86_64::*;

use super::lanes::{load64, part};

/// The bytes of four blocks of at most 24 bytes: the first 64 and, overlapping, the last 64. What is picked from two vectors was loaded once.
pub(super) struct Bytes {
    first: __m512i,
    last: __m512i,
}

impl Bytes {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn load<const BYTES: usize>(quad: &[u8; BYTES]) -> Self {
        Self { first: load64(part(quad, 0)), last: load64(part(quad, BYTES - 64)) }
    }
}

/// Which 16-bit words of [`Bytes`] to collect.
struct Words {
    /// From the first bytes, counted in words.
    from_first: [i16; 32],
    /// These are from the last.
    others: u32,
    from_last: [i16; 32],
}

impl Words {
    const NONE: Self = Self { from_first: [0; 32], others: 0, from_last: [0; 32] };

    /// Word `i` is the one at `byte`, of a total of `bytes`.
    const fn with(mut self, i: usize, byte: usize, bytes: usize) -> Self {
        if byte < 64 {
            self.from_first[i] = (byte / 2) as i16;
        } else {
            self.others |= 1 << i;
            self.from_last[i] = ((byte - (bytes - 64)) / 2) as i16;
        }
        self
    }

    /// The 16 bytes at `at` in each block, one block a lane.
    const fn lanes(bytes: usize, at: usize) -> Self {
        let (mut words, mut i) = (Self::NONE, 0);
        while i < 32 {
            words = words.with(i, i / 8 * (bytes / 4) + at + i % 8 * 2, bytes);
            i += 1;
        }
        words
    }

    /// The word at `at` in each block, four times each; then the two words at `bits` in each.
    const fn header(bytes: usize, at: usize, bits: usize) -> Self {
        let (mut words, mut i) = (Self::NONE, 0);
        while i < 16 {
            words = words.with(i, i / 4 * (bytes / 4) + at, bytes);
            if i < 8 {
                words = words.with(16 + i, i / 2 * (bytes / 4) + bits + i % 2 * 2, bytes);
            }
            i += 1;
        }
        words
    }

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn collect(&self, bytes: &Bytes) -> __m512i {
        let first = _mm512_permutexvar_epi16(words(&self.from_first), bytes.first);
        if self.others == 0 {
            return first;
        }
        _mm512_mask_permutexvar_epi16(first, self.others, words(&self.from_last), bytes.last)
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words(words: &[i16; 32]) -> __m512i {
    // SAFETY: 32 words are 64 bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// Two codes in each of 16 bytes at `AT`: the low halves belong to a block's first 16 weights, the high halves to the others.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn nibbles<const BYTES: usize, const AT: usize>(bytes: &Bytes) -> [__m512i; 2] {
    let bytes = const { Words::lanes(BYTES, AT) }.collect(bytes);
    let low = _mm512_set1_epi8(15);
    [_mm512_and_si512(bytes, low), _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), low)]
}

/// The half-precision number at `AT` in each block, in all of its lane.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn halves<const BYTES: usize, const AT: usize>(bytes: &Bytes) -> __m512 {
    header::<BYTES, AT, AT>(bytes).0
}

/// As [`halves`], and the 32 bits at `BITS`, in all of a block's lane.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn header<const BYTES: usize, const AT: usize, const BITS: usize>(bytes: &Bytes) -> (__m512, __m512i) {
    let header = const { Words::header(BYTES, AT, BITS) }.collect(bytes);
    let lanes = _mm512_setr_epi32(8, 8, 8, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11);
    (_mm512_cvtph_ps(_mm512_castsi512_si256(header)), _mm512_permutexvar_epi32(lanes, header))
}

/// Adds 16 to codes whose fifth bit is set: bit `i` of a lane's `bits` belongs to weight `i`.
#[inline]
#[target_feature(enable = "avx512bw")]
pub(super) fn with_fifth(codes: [__m512i; 2], bits: __m512i) -> [__m512i; 2] {
    let own = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let with = |codes: __m512i, first: i64| {
        // To each byte the eight bits among which its own is.
        let eight = _mm512_broadcast_i32x4(_mm_set_epi64x((first + 1) * 0x0101_0101_0101_0101, first * 0x0101_0101_0101_0101));
        let set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(bits, eight), own);
        _mm512_mask_add_epi8(codes, set, codes, _mm512_set1_epi8(16))
    };
    [with(codes[0], 0), with(codes[1], 2)]
}
