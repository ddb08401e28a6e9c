//! Codes of 4 or 5 bits for a few rows of activations, and activations in the same order. Each lane
//! has sixteen columns of one block.

use std::arch::x86_64::*;

use super::{
    eights::{Eights, add_eight, same_for_all, scales, sums},
    four_bit_floats,
    fours::add_lanes,
    heads::Heads,
    lanes::{load_lanes, part, values_at},
};
use crate::{
    format::{Format, Zero, power_of_two},
    input::Int8SuperBlock,
    streams::STREAMS,
};

/// Returns the unsigned codes of eight blocks: the first sixteen columns of blocks 0 to 3 and of
/// blocks 4 to 7, then the other sixteen columns.
#[inline]
#[target_feature(enable = "avx512bw")]
fn codes<F: Format, const BYTES: usize, const HEAD: usize>(
    bytes: &[u8],
    heads: Heads<BYTES, HEAD>,
) -> [__m512i; 4] {
    let block = |i: usize| part(bytes, i * BYTES + HEAD);
    let low = |bytes| _mm512_and_si512(bytes, _mm512_set1_epi8(15));
    let a = load_lanes([block(0), block(1), block(2), block(3)]);
    let b = load_lanes([block(4), block(5), block(6), block(7)]);
    let (c, d) = (_mm512_srli_epi16::<4>(a), _mm512_srli_epi16::<4>(b));
    let mut codes = [low(a), low(b), low(c), low(d)];
    if const { power_of_two::<F>() } {
        for v in 0..4 {
            codes[v] = four_bit_floats::looked_up(codes[v]);
        }
    }
    if Heads::<BYTES, HEAD>::FIFTH_BITS {
        let bits = heads.bits();
        for v in 0..4 {
            codes[v] = _mm512_mask_add_epi8(codes[v], bits[v], codes[v], _mm512_set1_epi8(16));
        }
    }
    codes
}

/// A super-block of activations, and values that are the same for all rows of weights.
#[derive(Clone, Copy)]
pub(super) struct Activations {
    /// Activations in the order of [`codes`].
    values: [__m512i; 4],
    /// The amount that the codes' offset subtracts from each block's sum. It is in the first two of
    /// the block's four numbers.
    starts: Eights<__m512i>,
    /// The scaled sums of activations by which minimums are multiplied.
    totals: Eights<__m512>,
    scales: Eights<__m512>,
}

impl Activations {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl")]
    pub(super) fn of<F: Format>(x: &Int8SuperBlock) -> Self {
        let values = |v: usize| values_at(&x.values, 64 * v);
        let (a, b, c, d) = (values(0), values(1), values(2), values(3));
        let first = |a, b| _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
        let second = |a, b| _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
        let (scales, sums) = (same_for_all(scales(x)), sums(x));
        let offset = match F::ZERO {
            Zero::Offset(offset) => i32::from(offset),
            Zero::Minimum => 0,
        };
        let taken_off = _mm512_mullo_epi32(sums, _mm512_set1_epi32(-offset));
        let both = _mm512_add_epi32(sums, _mm512_shuffle_epi32::<0b10_11_00_01>(sums));
        let (mut starts, mut totals) = ([_mm512_setzero_si512(); 2], [_mm512_setzero_ps(); 2]);
        // The indices of two numbers for each block.
        let two = _mm512_setr_epi32(0, 1, 0, 0, 2, 3, 2, 2, 4, 5, 4, 4, 6, 7, 6, 6);
        for i in 0..2 {
            let index = _mm512_add_epi32(two, _mm512_set1_epi32(8 * i as i32));
            starts[i] = _mm512_maskz_permutexvar_epi32(0x3333, index, taken_off);
            let both = _mm512_permutexvar_epi32(index, both);
            totals[i] = _mm512_mul_ps(_mm512_cvtepi32_ps(both), scales[i]);
        }
        Self {
            values: [first(a, b), first(c, d), second(a, b), second(c, d)],
            starts,
            totals,
            scales,
        }
    }

    /// Returns the products of the activations and eight blocks of a row of weights. Each lane has
    /// the products of one block.
    #[inline]
    #[target_feature(enable = "avx512vnni")]
    fn times(&self, codes: [__m512i; 4]) -> Eights<__m512i> {
        let mut products = self.starts;
        for v in 0..4 {
            products[v % 2] = _mm512_dpbusd_epi32(products[v % 2], codes[v], self.values[v]);
        }
        products
    }

    /// Multiplies the activations by eight blocks of each of four rows of weights. Returns `sums`
    /// plus the scaled products.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
    pub(super) fn add<F: Format, const BYTES: usize, const HEAD: usize>(
        &self,
        rows: [&[u8]; STREAMS],
        sums: __m128,
    ) -> __m128 {
        let mut heads = [Heads::<BYTES, HEAD>::none(); STREAMS];
        let mut products = [[_mm512_setzero_si512(); 2]; STREAMS];
        for s in 0..STREAMS {
            heads[s] = Heads::of(rows[s]);
            products[s] = self.times(codes::<F, BYTES, HEAD>(rows[s], heads[s]));
        }
        let [a, b, c, d] = products;
        let products = [add_lanes([a[0], b[0], c[0], d[0]]), add_lanes([a[1], b[1], c[1], d[1]])];
        let scales = if const { power_of_two::<F>() } {
            four_bit_floats::scales(rows)
        } else {
            Heads::numbers::<0>(heads)
        };
        let minimums = match F::ZERO {
            Zero::Minimum => Some((Heads::numbers::<2>(heads), self.totals)),
            Zero::Offset(_) => None,
        };
        add_eight(sums, products, self.scales, scales, minimums)
    }
}
