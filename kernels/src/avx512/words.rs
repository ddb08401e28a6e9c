//! Unpacks eight blocks of 18 to 24 bytes at once: picks their codes and scales, as words of 16
//! bits, from windows of 64 bytes.

use std::arch::x86_64::*;

use super::lanes::{load64_or_zeros, sixteen_bits};

/// The bytes of eight blocks of `BYTES` each. The codes of a block begin at byte `HEAD`.
pub(super) struct Blocks<'b, const BYTES: usize, const HEAD: usize>(pub(super) &'b [u8]);

/// The indices of the 16-bit words to pick from three windows of 64 bytes.
struct Words {
    /// Indices into the first two windows.
    from_two: [i16; 32],
    /// Mask of the words to pick from the third window. The others are in the first two windows.
    others: u32,
    from_third: [i16; 32],
}

impl<const BYTES: usize, const HEAD: usize> Blocks<'_, BYTES, HEAD> {
    /// Number of blocks whose head and first half of the codes fit in a window.
    const PER_WINDOW: usize = if 3 * BYTES + HEAD + 8 <= 64 { 4 } else { 3 };
    /// Offset of the third window. If the window is moved by 8 bytes, it ends at the end of the
    /// last block.
    const THIRD: usize = 8 * BYTES - 72;

    /// Returns the three windows of 64 bytes, all moved by `from` bytes.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn windows(&self, from: usize) -> [__m512i; 3] {
        let third = if Self::PER_WINDOW == 4 {
            _mm512_setzero_si512()
        } else {
            load64_or_zeros(self.0, Self::THIRD + from)
        };
        [
            load64_or_zeros(self.0, from),
            load64_or_zeros(self.0, Self::PER_WINDOW * BYTES + from),
            third,
        ]
    }

    /// Returns `words` with index `i` set to the word at byte `at` of block `block`.
    const fn with(mut words: Words, i: usize, block: usize, at: usize) -> Words {
        let byte = block * BYTES + at;
        if block < Self::PER_WINDOW {
            words.from_two[i] = (byte / 2) as i16;
        } else if block < 2 * Self::PER_WINDOW {
            words.from_two[i] = (32 + (byte - Self::PER_WINDOW * BYTES) / 2) as i16;
        } else {
            words.others |= 1 << i;
            words.from_third[i] = ((byte - Self::THIRD) / 2) as i16;
        }
        words
    }

    /// The indices of the words that hold eight bytes of codes of each block.
    const CODES: Words = {
        let (mut words, mut i) = (Words::NONE, 0);
        while i < 32 {
            words = Self::with(words, i, i / 4, HEAD + i % 4 * 2);
            i += 1;
        }
        words
    };

    /// Returns the indices of each block's first word, twice, then of two more words of each block:
    /// one at byte `at`, and one `step` bytes after it.
    const fn heads(at: usize, step: usize) -> Words {
        let (mut words, mut i) = (Words::NONE, 0);
        while i < 16 {
            words = Self::with(words, i, i / 2, 0);
            words = Self::with(words, 16 + i, i / 2, at + i % 2 * step);
            i += 1;
        }
        words
    }

    /// Returns 256 codes of four bits: vector `v` holds weights 8v to 8v + 7 of each block.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn nibbles(&self) -> [__m512i; 4] {
        let [a, b] = self.codes();
        let low = |bytes| _mm512_and_si512(bytes, _mm512_set1_epi8(15));
        [low(a), low(b), low(_mm512_srli_epi16::<4>(a)), low(_mm512_srli_epi16::<4>(b))]
    }

    /// Returns codes like [`Blocks::nibbles`], with a fifth bit: bit `i` of number `b` of `bits`
    /// belongs to weight `i` of block `b`.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn nibbles_and(&self, bits: __m256i) -> [__m512i; 4] {
        let mut codes = self.nibbles();
        // Copies the 32 bits of each block to the block's 64-bit lane. Then copies byte v of these
        // bits to each of eight codes, each of which tests its own bit.
        let bits = _mm512_cvtepu32_epi64(bits);
        let own = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        for v in 0..4 {
            let eight = (v as i64) * 0x0101_0101_0101_0101;
            let eight =
                _mm512_broadcast_i32x4(_mm_set_epi64x(eight + 0x0808_0808_0808_0808, eight));
            let set = _mm512_test_epi8_mask(_mm512_shuffle_epi8(bits, eight), own);
            codes[v] = _mm512_or_si512(codes[v], _mm512_maskz_set1_epi8(set, 16));
        }
        codes
    }

    /// Returns the bytes of codes: the first eight of each block, then the other eight.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn codes(&self) -> [__m512i; 2] {
        [const { &Self::CODES }.pick(self.windows(0)), const { &Self::CODES }.pick(self.windows(8))]
    }

    /// Returns the half-precision number with which each block begins, twice.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn scales(&self) -> __m512 {
        self.scales_and::<0, 0>().0
    }

    /// Returns [`Blocks::scales`], and two words of each block: one at byte `AT`, and one `STEP`
    /// bytes after it.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn scales_and<const AT: usize, const STEP: usize>(&self) -> (__m512, __m256i) {
        let heads = const { &Self::heads(AT, STEP) }.pick(self.windows(0));
        (_mm512_cvtph_ps(_mm512_castsi512_si256(heads)), _mm512_extracti64x4_epi64::<1>(heads))
    }
}

impl Words {
    const NONE: Self = Self { from_two: [0; 32], others: 0, from_third: [0; 32] };

    #[inline]
    #[target_feature(enable = "avx512bw")]
    fn pick(&self, windows: [__m512i; 3]) -> __m512i {
        let two = _mm512_permutex2var_epi16(windows[0], sixteen_bits(&self.from_two), windows[1]);
        if self.others == 0 {
            return two;
        }
        _mm512_mask_permutexvar_epi16(two, self.others, sixteen_bits(&self.from_third), windows[2])
    }
}
