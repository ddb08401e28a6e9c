//! `Q4_K`: a byte holds two codes. Scales and minimums have 6 bits. If a learner has written a
//! kernel for a few rows of activations, that kernel replaces `few`.

use std::arch::x86_64::*;

use tiny_llm_formats::gguf::TensorType;

use super::{
    eights::{self, Heads},
    few,
    lanes::{halves, load, part},
    many,
    super_blocks::{self, Head},
};
use crate::{blocks::six_bits, format::Q4_K, input::Input, matrix::Matrix, parallel::Tile};

/// Size of a block in bytes.
const BYTES: usize = TensorType::Q4_K.block_bytes();

/// Multiplies weights by a few rows of activations. Adds in the same order as [`many()`].
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn few(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    few::in_order::<BYTES, 1>(weight, x, tile, |blocks, x, sum| {
        let block = &blocks[0];
        super_blocks::dot::<Q4_K>(head(block), |half| codes(block, half), x, sum)
    });
}

/// Multiplies weights by many rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn many(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    many::super_blocks::<Q4_K, BYTES, 2>(
        weight,
        x,
        tile,
        |block| head(block),
        |block, half| bytes(block, half),
        |[first, second]| nibbles(first, second),
    );
}

/// Unpacks eight scales and eight minimums to i16. The first register has the scales in both
/// halves. The second has each minimum in two neighbouring lanes, because it is multiplied by two
/// sums of 16 activations.
///
/// # Safety
/// The machine must have AVX2 and FMA.
#[inline]
#[target_feature(enable = "avx2")]
pub fn scales_and_mins(packed: &[u8; 12]) -> (__m256i, __m256i) {
    let (scales, mins) = six_bits::unpack(packed);
    let scales = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(scales as i64));
    let mins = _mm_cvtsi64_si128(mins as i64);
    (_mm256_broadcastsi128_si256(scales), _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(mins, mins)))
}

/// Unpacks the scales, the minimums and their factors of a block of `Q4_K` or `Q5_K`.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn head<const BYTES: usize>(block: &[u8; BYTES]) -> Head {
    let (scales, minimums) = six_bits::unpack(part(block, 4));
    let twice = |numbers: u64| {
        let numbers = _mm_cvtsi64_si128(numbers as i64);
        _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(numbers, numbers))
    };
    Head {
        scales: twice(scales),
        minimums: twice(minimums),
        d: halves(*part(block, 0)),
        dmin: halves(*part(block, 2)),
    }
}

/// Loads the bytes of the 128 codes of a block's first half (`half` is 0) or second half (1).
#[inline]
#[target_feature(enable = "avx2")]
fn bytes(block: &[u8; BYTES], half: usize) -> [__m256i; 2] {
    [load(part(block, 16 + 64 * half)), load(part(block, 48 + 64 * half))]
}

/// Returns the 128 codes of a block's first half (`half` is 0) or second half (1).
#[inline]
#[target_feature(enable = "avx2")]
fn codes(block: &[u8; BYTES], half: usize) -> [__m256i; 4] {
    let [first, second] = bytes(block, half);
    nibbles(first, second)
}

/// Returns the low nibbles of `first`, then its high nibbles, then the same for `second`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn nibbles(first: __m256i, second: __m256i) -> [__m256i; 4] {
    let low = |bytes| _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    [
        low(first),
        low(_mm256_srli_epi16::<4>(first)),
        low(second),
        low(_mm256_srli_epi16::<4>(second)),
    ]
}

/// Multiplies repacked weights by any number of rows of activations.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn repacked(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    eights::super_blocks::<Q4_K, { 8 * BYTES }>(
        weight,
        x,
        tile,
        |block| heads(block),
        |block, j| codes_of_eight::<128>(block, j),
    );
}

/// Unpacks the scales, the minimums and their factors of a block of `Q4_K` or `Q5_K` of each of
/// eight rows.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn heads(block: &[u8]) -> Heads {
    let (low, upper) = (_mm256_set1_epi8(15), _mm256_set1_epi8(0x30));
    let six = _mm256_set1_epi8(63);
    let [scales, minimums, both] = [0, 1, 2].map(|i| eights::words::<32>(block, i));
    let with = |low: __m256i, of: __m256i| {
        _mm256_or_si256(low, _mm256_and_si256(_mm256_srli_epi16::<2>(of), upper))
    };
    // Four bytes for each row: scales 0…3, then 4…7.
    let scales = [_mm256_and_si256(scales, six), with(_mm256_and_si256(both, low), scales)];
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low);
    let minimums = [_mm256_and_si256(minimums, six), with(high, minimums)];
    let twice = |of: &[__m256i; 2], j: usize| {
        _mm256_srli_epi16::<8>(eights::upper_bytes(of[j / 4], [j as i32 % 4; 2]))
    };
    let mut heads = Heads {
        d: eights::halves::<0>(block),
        dmin: eights::halves::<16>(block),
        scales: [_mm256_setzero_si256(); 16],
        minimums: [_mm256_setzero_si256(); 8],
    };
    for j in 0..8 {
        heads.scales[j] = twice(&scales, j);
        heads.minimums[j] = twice(&minimums, j);
    }
    heads
}

/// Returns codes `32j…32j + 31` of each of eight rows. `AT` is the offset of the first codes. Each
/// byte holds a code of an even `j` and a code of `j + 1`.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn codes_of_eight<const AT: usize>(block: &[u8], j: usize) -> [__m256i; 8] {
    let shift = _mm_cvtsi32_si128(4 * (j % 2) as i32);
    let mut codes = [_mm256_setzero_si256(); 8];
    for (k, codes) in codes.iter_mut().enumerate() {
        let both = eights::words::<AT>(block, 8 * (j / 2) + k);
        *codes = _mm256_and_si256(_mm256_srl_epi16(both, shift), _mm256_set1_epi8(15));
    }
    codes
}
