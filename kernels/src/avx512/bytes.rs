//! Blocks of 32 whole bytes ([`Q8_0`](super::q8_0)), times few rows of activations: eight blocks of
//! four rows of weights at a time, whose sums and scales are brought side by side
//! ([`fours`](super::fours)).

use std::arch::x86_64::*;

use super::{
    fours::{add_lanes, stored},
    lanes::{load64, part, twice},
    pairs::{Pairs, add_pairs, same_for_all},
    q8_0::{BYTES, codes},
};
use crate::{
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// Bytes of eight blocks.
const EIGHT: usize = 8 * BYTES;

/// A [`Kernel`](crate::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply(weight: &Matrix, x: &Input, tile: &mut Tile<'_, f32>) {
    if weight.row_bytes() >= EIGHT {
        each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t)));
        return;
    }
    // Zeros behind what there is.
    let mut filled = [[0; EIGHT]; STREAMS];
    each_four(weight, tile, |rows, t| {
        for s in 0..STREAMS {
            filled[s][..rows[s].len()].copy_from_slice(rows[s]);
        }
        dot(filled.each_ref().map(|row| &row[..]), x.int8_row(t))
    });
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot(rows: [&[u8]; STREAMS], x: &[Int8SuperBlock]) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = _mm_setzero_ps();
    for (g, x) in x.iter().enumerate() {
        // The last eight blocks again; those that were counted before meet zeros.
        let missing = ((g + 1) * EIGHT).saturating_sub(rows[0].len()) / BYTES;
        let x = Activations::of(x, missing);
        // So many as the compiler knows: nothing is to be checked in `codes` and `scales`.
        let eights = rows.map(|row| part(row, g * EIGHT - missing * BYTES));
        for eight in eights {
            prefetch(eight, ahead);
        }
        sums = x.times(eights, sums);
    }
    stored(sums)
}

/// A super-block of activations, and what is the same for all rows of weights.
struct Activations {
    values: [__m512i; 4],
    /// What the offset takes off.
    starts: [__m512i; 4],
    scales: Pairs<__m512>,
}

impl Activations {
    /// For blocks that stand so many places later; zeros for those before them.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
    fn of(x: &Int8SuperBlock, places: usize) -> Self {
        let (mut values, mut starts) = ([_mm512_setzero_si512(); 4], [_mm512_setzero_si512(); 4]);
        for v in 0..4 {
            // One bit for each number: places of 32.
            let before = (32 * places).saturating_sub(64 * v);
            let there = u64::MAX.checked_shl(before as u32).unwrap_or(0);
            let from = x.values.as_ptr().wrapping_add(64 * v).wrapping_sub(32 * places);
            // SAFETY: numbers that the mask does not name are not read; the others are in `x`.
            values[v] = unsafe { _mm512_maskz_loadu_epi8(there, from) };
            let offset =
                _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), values[v]);
            starts[v] = _mm512_sub_epi32(_mm512_setzero_si512(), offset);
        }
        let from = x.scales.as_ptr().wrapping_sub(places);
        // SAFETY: as above.
        let scales = unsafe { _mm256_maskz_loadu_ps(u8::MAX << places, from) };
        Self { values, starts, scales: same_for_all(twice(scales)) }
    }

    /// Adds the products with eight blocks of four rows of weights to `sums`.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    fn times(&self, rows: [&[u8; EIGHT]; STREAMS], sums: __m128) -> __m128 {
        let mut products = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            // Two lanes of block 2v, two of block 2v + 1, in each a sum of each row.
            products[v] =
                add_lanes(rows.map(|bytes| {
                    _mm512_dpbusd_epi32(self.starts[v], codes(bytes, v), self.values[v])
                }));
        }
        let [a, b, c, d] = products;
        // Lanes two by two, so that the even ones and the odd ones of them can be added.
        let add = |a, b| {
            _mm512_add_epi32(
                _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b),
            )
        };
        let even = |a, b| _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b);
        let odd = |a, b| _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b);
        let products = [add(even(a, b), even(c, d)), add(odd(a, b), odd(c, d))];
        add_pairs(sums, products, self.scales, scales(rows), None)
    }
}

/// The scales of eight blocks of each row.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,f16c")]
fn scales(rows: [&[u8; EIGHT]; STREAMS]) -> Pairs<__m512> {
    // In the 64 bytes from an even block on, its own scale is in the lower half of 32-bit number 0,
    // that of the next in the upper half of number 8.
    let two = |s: usize, v: usize| load64(part(rows[s], 2 * v * BYTES));
    let index = _mm512_setr_epi32(0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24, 0, 16, 8, 24);
    let of_both = |s: usize, v: usize| _mm512_permutex2var_epi32(two(s, v), index, two(s + 1, v));
    // Two blocks in each lane: first of rows s and s + 1 the even one, then the odd one.
    let of_all = |s: usize| {
        let first = _mm512_mask_blend_epi32(0x00f0, of_both(s, 0), of_both(s, 1));
        let second = _mm512_mask_blend_epi32(0xf000, of_both(s, 2), of_both(s, 3));
        _mm512_mask_blend_epi32(0xff00, first, second)
    };
    let (a, b) = (of_all(0), of_all(2));
    let floats = |halves: __m512i| _mm512_cvtph_ps(_mm512_cvtepi32_epi16(halves));
    let odd = _mm512_srli_epi32::<16>(_mm512_unpackhi_epi64(a, b));
    [floats(_mm512_unpacklo_epi64(a, b)), floats(odd)]
}
