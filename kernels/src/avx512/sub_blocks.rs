//! Formats whose blocks of 256 weights have eight sub-blocks of 32, each with a scale and a minimum
//! of 6 bits ([`Q4_K`](super::q4_k), [`Q5_K`](super::q5_k)), times a few rows of activations.
//!
//! The heads of blocks (scales and minimums) are unpacked for four rows of weights at once, with
//! one row in each lane of 128 bits. Unpacking a single row would take as many instructions, and
//! would fill only a quarter of a vector.

use std::arch::x86_64::*;

use super::{
    fours::{add_block, stored, total},
    lanes::{load_lanes, part, sixteen_bits},
    order::Order,
};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// The order of columns: a vector holds even or odd sub-blocks of 32.
pub(crate) const ORDER: Order = Order::new([0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);

/// Computes a tile of the output. See [`Kernel`](crate::Kernel). `codes` must unpack the codes of a
/// block, in the order of [`ORDER`].
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    codes: impl Fn(&[u8; BYTES]) -> [__m512i; 4] + Copy,
) {
    each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t), codes));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Int8SuperBlock],
    codes: impl Fn(&[u8; BYTES]) -> [__m512i; 4],
) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    for (g, x) in x.iter().enumerate() {
        let head = |s: usize| part(rows[s], g * BYTES);
        let heads = Heads::of(load_lanes([head(0), head(1), head(2), head(3)]));
        let below = add_up(_mm512_madd_epi16(heads.minimums, sums_of_32(x)));
        let values = ORDER.arrange(x);
        let mut products = [_mm512_setzero_si512(); STREAMS];
        for s in 0..STREAMS {
            let block = part(rows[s], g * BYTES);
            prefetch(block, ahead);
            let codes = codes(block);
            let four = |v: usize| _mm512_dpbusd_epi32(_mm512_setzero_si512(), codes[v], values[v]);
            // Each sum is at most 4 · 31 · 127, which fits in 16 bits.
            let (a, b) =
                (_mm512_packs_epi32(four(0), four(1)), _mm512_packs_epi32(four(2), four(3)));
            let scales = |half: usize| {
                _mm512_permutexvar_epi16(sixteen_bits(&SCALES[s][half]), heads.scales)
            };
            products[s] = _mm512_dpwssd_epi32(_mm512_madd_epi16(a, scales(0)), b, scales(1));
        }
        sums = add_block(sums, heads.factors, total(products), Some(below), x.scales[0]);
    }
    stored(sums)
}

/// Returns the sum of each lane's four numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_up(lanes: __m512i) -> __m128i {
    let pairs = _mm512_add_epi32(lanes, _mm512_shuffle_epi32::<0b10_11_00_01>(lanes));
    let sums = _mm512_add_epi32(pairs, _mm512_shuffle_epi32::<0b01_00_11_10>(pairs));
    let firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm512_castsi512_si128(_mm512_permutexvar_epi32(firsts, sums))
}

/// For each row `s`, the indices in [`Heads::scales`] of the scales by which its sums are
/// multiplied: first for the sums packed from vectors 0 and 1, then for those from vectors 2 and 3.
const SCALES: [[[i16; 32]; 2]; STREAMS] = {
    let (mut scales, mut i) = ([[[0; 32]; 2]; STREAMS], 0);
    while i < STREAMS * 64 {
        let (s, half, word) = (i / 64, i / 32 % 2, i % 32);
        // A lane has four sums of each vector. The sub-blocks in the upper two lanes come two after
        // those in the lower lanes.
        scales[s][half][word] = (8 * s + 4 * half + word / 16 * 2 + word / 4 % 2) as i16;
        i += 1;
    }
    scales
};

/// The scales and minimums of four blocks, unpacked from their first 16 bytes.
struct Heads {
    /// Scales of 16 bits, eight per row, one row in each lane.
    scales: __m512i,
    /// Minimums, in the same layout as `scales`.
    minimums: __m512i,
    /// The factors of each row's scales, and the factors of its minimums.
    factors: [__m128; 2],
}

impl Heads {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,f16c")]
    fn of(heads: __m512i) -> Self {
        let bytes = |b| _mm512_set1_epi8(b);
        // Each lane has four numbers of 32 bits. The first has the two factors. The second has
        // scales 0 to 3 and the third minimums 0 to 3, in the lower six bits of bytes, with the
        // upper two bits of scales and minimums 4 to 7 above them. The fourth has the lower four
        // bits of scales and minimums 4 to 7: scales in the low nibbles, minimums in the high
        // nibbles.
        let first = _mm512_and_si512(heads, bytes(0x3f));
        let upper = _mm512_and_si512(_mm512_srli_epi16::<2>(heads), bytes(0x30));
        let last = _mm512_shuffle_epi32::<0b11_11_11_11>(heads);
        let last = _mm512_and_si512(_mm512_srlv_epi32(last, _mm512_set1_epi64(4)), bytes(0x0f));
        let second = _mm512_or_si512(upper, last);
        // Scales are in the second number of each lane, minimums in the third.
        let (low, high) =
            (_mm512_unpacklo_epi32(first, second), _mm512_unpackhi_epi32(first, second));
        let zero = _mm512_setzero_si512();
        let halves = _mm512_permutexvar_epi32(
            _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            heads,
        );
        let both = _mm256_cvtph_ps(_mm512_castsi512_si128(halves));
        let (a, b) = (_mm256_castps256_ps128(both), _mm256_extractf128_ps::<1>(both));
        Self {
            scales: _mm512_unpackhi_epi8(low, zero),
            minimums: _mm512_unpacklo_epi8(high, zero),
            factors: [_mm_shuffle_ps::<0b10_00_10_00>(a, b), _mm_shuffle_ps::<0b11_01_11_01>(a, b)],
        }
    }
}

/// Returns the 16-bit sums of every 32 activations, copied to every lane.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn sums_of_32(x: &Int8SuperBlock) -> __m512i {
    // SAFETY: the load reads 32 bytes, which is 16 sums of 16 bits.
    let sums = unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) };
    let sums = _mm256_cvtepi32_epi16(_mm256_madd_epi16(sums, _mm256_set1_epi16(1)));
    _mm512_broadcast_i32x4(sums)
}
