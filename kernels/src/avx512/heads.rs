//! The heads of eight blocks of 18 to 24 bytes, before their codes: scales, minimums, fifth bits.
//!
//! A block begins at an even byte, and what is wanted of its head is within two 32-bit numbers.
//! These are picked out of windows of 64 bytes, and words out of them: picking words out of windows
//! directly takes a processor three times as long.

use std::{arch::x86_64::*, hint::black_box};

use super::{
    eights::{Eights, floats},
    lanes::{load64, part, sixteen_bits},
};
use crate::streams::STREAMS;

/// The heads of eight blocks of `BYTES` each, whose codes follow after `HEAD` bytes: number `b` of
/// 32 bits has the scale of block `b`, number `8 + b`, if the format has fifth bits, is the one
/// that follows it.
#[derive(Clone, Copy)]
pub(super) struct Heads<const BYTES: usize, const HEAD: usize>(__m512i);

/// Which 32-bit numbers to pick out of three windows.
struct Picked {
    from_two: [i32; 16],
    /// These are from the third.
    others: u16,
    from_third: [i32; 16],
}

impl<const BYTES: usize, const HEAD: usize> Heads<BYTES, HEAD> {
    /// Whether codes have fifth bits: the four bytes before them.
    pub(super) const FIFTH_BITS: bool = HEAD >= 6;
    /// Where the windows start, counted in 32-bit numbers. Without fifth bits two are enough.
    const WINDOWS: [usize; 3] = match Self::FIFTH_BITS {
        true => [0, 16, 2 * BYTES - 16],
        false => [0, Self::first(7) - 15, Self::first(7) - 15],
    };

    /// The 32-bit number that a block begins in.
    const fn first(block: usize) -> usize {
        block * BYTES / 4
    }

    /// The word of a block at this byte of it, as it is counted in the two 32-bit numbers that were
    /// picked.
    const fn word(block: usize, at: usize) -> i16 {
        let word = (block * BYTES % 4 + at) / 2;
        (2 * block + word / 2 * 16 + word % 2) as i16
    }

    const PICKED: Picked = {
        let mut picked = Picked { from_two: [0; 16], others: 0, from_third: [0; 16] };
        let mut i = 0;
        while i < if Self::FIFTH_BITS { 16 } else { 8 } {
            let number = Self::first(i % 8) + i / 8;
            if number < 16 {
                picked.from_two[i] = number as i32;
            } else if number < Self::WINDOWS[1] + 16 {
                picked.from_two[i] = (16 + number - Self::WINDOWS[1]) as i32;
            } else {
                picked.others |= 1 << i;
                picked.from_third[i] = (number - Self::WINDOWS[2]) as i32;
            }
            i += 1;
        }
        picked
    };

    /// The lower halves of the fifth bits of each block, then the upper ones.
    const BITS: [i16; 32] = {
        let (mut words, mut i) = ([0; 32], 0);
        while i < 16 && Self::FIFTH_BITS {
            words[i] = Self::word(i % 8, HEAD - 4 + i / 8 * 2);
            i += 1;
        }
        words
    };

    /// The words at this byte of each block, block after block: of rows 0 and 1 in one vector, then
    /// of rows 2 and 3 in another.
    const fn of_four_rows(at: usize) -> [i16; 32] {
        let (mut words, mut i) = ([0; 32], 0);
        while i < 32 {
            words[i] = Self::word(i / STREAMS, at) + (i % STREAMS * 16) as i16;
            i += 1;
        }
        words
    }

    /// Before anything is picked.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn none() -> Self {
        Self(_mm512_setzero_si512())
    }

    /// Of so many bytes as eight blocks have.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn of(bytes: &[u8]) -> Self {
        let window = |i: usize| load64(part(bytes, 4 * Self::WINDOWS[i]));
        let picked = const { &Self::PICKED };
        let two =
            _mm512_permutex2var_epi32(window(0), sixteen_numbers(&picked.from_two), window(1));
        if picked.others == 0 {
            return Self(two);
        }
        let index = sixteen_numbers(&picked.from_third);
        Self(_mm512_mask_permutexvar_epi32(two, picked.others, index, window(2)))
    }

    /// The fifth bits: of the first sixteen codes of blocks 0 to 3 and of blocks 4 to 7, then of
    /// the other sixteen.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn bits(self) -> [u64; 4] {
        let words = _mm512_permutexvar_epi16(sixteen_bits(const { &Self::BITS }), self.0);
        let mut stored = [0; 4];
        // SAFETY: four numbers of 64 bits are 32 bytes.
        unsafe {
            _mm256_storeu_si256(stored.as_mut_ptr().cast(), _mm512_castsi512_si256(words));
        }
        // Masks are read from memory faster than they are taken out of a vector.
        *black_box(&stored)
    }

    /// The numbers in half precision at byte `AT` of each block.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn numbers<const AT: usize>([a, b, c, d]: [Self; STREAMS]) -> Eights<__m512> {
        let two = |a: Self, b: Self| _mm512_inserti64x4::<1>(a.0, _mm512_castsi512_si256(b.0));
        let words = sixteen_bits(const { &Self::of_four_rows(AT) });
        floats(_mm512_permutex2var_epi16(two(a, b), words, two(c, d)))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sixteen_numbers(numbers: &[i32; 16]) -> __m512i {
    // SAFETY: 16 numbers of 32 bits are 64 bytes.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}
