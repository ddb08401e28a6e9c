//! The heads of eight blocks of 18 to 24 bytes. The head of a block is what precedes its codes:
//! scale, minimum, fifth bits.
//!
//! A block begins at an even byte, and the relevant part of its head is within two 32-bit numbers.
//! First, these numbers are picked from windows of 64 bytes, then 16-bit words are picked from
//! these numbers. Picking words directly from the windows would take three times as long.

use std::{arch::x86_64::*, hint::black_box};

use super::{
    eights::{Eights, floats},
    lanes::{load64, part, sixteen_bits},
};
use crate::streams::STREAMS;

/// The heads of eight blocks of `BYTES` bytes each, whose codes begin at byte `HEAD`. 32-bit lane
/// `b` holds the word in which block `b` begins. This word contains the block's scale. (Words are
/// aligned, so the word may begin two bytes before the block.) If the format has fifth bits, lane
/// `8 + b` holds the next word.
#[derive(Clone, Copy)]
pub(super) struct Heads<const BYTES: usize, const HEAD: usize>(__m512i);

/// The indices of the 32-bit numbers to pick from three windows of 64 bytes.
struct Picked {
    from_two: [i32; 16],
    /// Mask of the numbers to pick from the third window. The others are in the first two windows.
    others: u16,
    from_third: [i32; 16],
}

impl<const BYTES: usize, const HEAD: usize> Heads<BYTES, HEAD> {
    /// Whether codes have fifth bits, which are in the four bytes before the codes.
    pub(super) const FIFTH_BITS: bool = HEAD >= 6;
    /// Offsets of the windows, counted in 32-bit numbers. Formats without fifth bits need only two
    /// windows.
    const WINDOWS: [usize; 3] = match Self::FIFTH_BITS {
        true => [0, 16, 2 * BYTES - 16],
        false => [0, Self::first(7) - 15, Self::first(7) - 15],
    };

    /// Returns the index of the 32-bit word in which a block begins.
    const fn first(block: usize) -> usize {
        block * BYTES / 4
    }

    /// Returns the index of the 16-bit word at byte `at` of a block, among the picked 32-bit
    /// numbers.
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

    /// The indices of the 16-bit numbers that hold the blocks' fifth bits: first the lower 16 bits
    /// of every block, then the upper 16 bits of every block.
    const BITS: [i16; 32] = {
        let (mut words, mut i) = ([0; 32], 0);
        while i < 16 && Self::FIFTH_BITS {
            words[i] = Self::word(i % 8, HEAD - 4 + i / 8 * 2);
            i += 1;
        }
        words
    };

    /// Returns the indices of the 16-bit words at byte `at` of each block: for each block, one
    /// index per row. The indices refer to two vectors, one with the picked numbers of rows 0 and
    /// 1, the other with those of rows 2 and 3.
    const fn of_four_rows(at: usize) -> [i16; 32] {
        let (mut words, mut i) = ([0; 32], 0);
        while i < 32 {
            words[i] = Self::word(i / STREAMS, at) + (i % STREAMS * 16) as i16;
            i += 1;
        }
        words
    }

    /// Returns heads that are all zero.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn none() -> Self {
        Self(_mm512_setzero_si512())
    }

    /// Picks the heads out of the bytes of eight blocks.
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

    /// Returns the fifth bits of codes 0 to 15, for blocks 0 to 3 and for blocks 4 to 7, then those
    /// of codes 16 to 31.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn bits(self) -> [u64; 4] {
        let words = _mm512_permutexvar_epi16(sixteen_bits(const { &Self::BITS }), self.0);
        let mut stored = [0; 4];
        // SAFETY: the store writes 32 bytes, which is four numbers of 64 bits.
        unsafe {
            _mm256_storeu_si256(stored.as_mut_ptr().cast(), _mm512_castsi512_si256(words));
        }
        // Reading masks from memory is faster than extracting them from a vector.
        *black_box(&stored)
    }

    /// Returns the half-precision numbers at byte `AT` of eight blocks of each of four rows.
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
    // SAFETY: the load reads 64 bytes, which is 16 numbers of 32 bits.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}
