//! Products of formats whose blocks have 256 weights and integer scales, for a few rows of
//! activations.
//!
//! Scales are integers here. Sums of four products are packed to 16 bits, and `vpdpwssd` multiplies
//! them by their scales and adds them. The sums of four rows of weights are then put side by side
//! ([`fours`](super::fours)), so that four blocks need only one conversion to floats.

use std::arch::x86_64::*;

use super::{
    fours::{add_block, add_eights, stored, total},
    lanes::{part, sixteen_bits},
    order::Order,
    panel,
};
use crate::{
    format::{Format, Zero},
    input::{Input, Int8SuperBlock},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// An unpacked block: a weight is `d · scale · code − dmin · minimum`, or in a format with an
/// offset `d · scale · (code − offset)`.
pub(crate) struct SuperBlock {
    /// Unsigned codes, at most 63, in the format's [`Order`].
    pub(crate) codes: [__m512i; 4],
    /// Scales of 16 bits, one for every 16 columns.
    pub(crate) scales: __m256i,
    /// Minimums, in the same layout as `scales`. Unused in a format with an offset.
    pub(crate) minimums: __m256i,
    /// `d` and `dmin`. `dmin` is unused in a format with an offset.
    pub(crate) d: __m128,
}

impl SuperBlock {
    /// Converts the block to a row of a panel: scales become floats, minimums stay 16-bit integers,
    /// and `d` and `dmin` are stored after the minimums.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn row(self) -> panel::Row {
        let rest = _mm512_broadcast_i32x4(_mm_castps_si128(self.d));
        panel::Row {
            codes: self.codes,
            scales: _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(self.scales)),
            minimums: _mm512_inserti64x4::<0>(rest, self.minimums),
        }
    }
}

/// Computes a tile of the output. See [`Kernel`](crate::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<F: Format, const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    order: &Order,
    unpack: impl Fn(&[u8; BYTES]) -> SuperBlock + Copy,
) {
    each_four(weight, tile, |rows, t| dot::<F, BYTES>(rows, x.int8_row(t), order, unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<F: Format, const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Int8SuperBlock],
    order: &Order,
    unpack: impl Fn(&[u8; BYTES]) -> SuperBlock,
) -> [f32; STREAMS] {
    let ahead = distance();
    let zero = _mm512_setzero_si512();
    let mut sums = _mm_setzero_ps();
    assert!(rows[0].len() == x.len() * BYTES, "a block for each super-block");
    for (g, x) in x.iter().enumerate() {
        let values = order.arrange(x);
        // The amount that the offset subtracts from each sum of four products.
        let mut starts = [zero; 4];
        if let Zero::Offset(offset) = F::ZERO {
            for v in 0..4 {
                let offset = _mm512_dpbusd_epi32(zero, _mm512_set1_epi8(offset as i8), values[v]);
                starts[v] = _mm512_sub_epi32(zero, offset);
            }
        }
        // SAFETY: the load reads 32 bytes, which is 16 sums of 16 bits.
        let x_sums = unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) };
        let (mut products, mut below) = ([zero; STREAMS], [_mm256_setzero_si256(); STREAMS]);
        let mut d = [_mm_setzero_ps(); STREAMS];
        for s in 0..STREAMS {
            let block = part(rows[s], g * BYTES);
            prefetch(block, ahead);
            let w = unpack(block);
            let scales = _mm512_castsi256_si512(w.scales);
            let four = |v: usize| _mm512_dpbusd_epi32(starts[v], w.codes[v], values[v]);
            // Each sum is at most 4 · 63 · 127, which fits in 16 bits.
            let (a, b) =
                (_mm512_packs_epi32(four(0), four(1)), _mm512_packs_epi32(four(2), four(3)));
            let first = _mm512_permutexvar_epi16(sixteen_bits(&order.scales[0]), scales);
            let second = _mm512_permutexvar_epi16(sixteen_bits(&order.scales[1]), scales);
            products[s] = _mm512_dpwssd_epi32(_mm512_madd_epi16(a, first), b, second);
            if F::ZERO == Zero::Minimum {
                below[s] = _mm256_madd_epi16(w.minimums, x_sums);
            }
            d[s] = w.d;
        }
        let minimums = match F::ZERO {
            Zero::Minimum => Some(add_eights(below)),
            Zero::Offset(_) => None,
        };
        sums = add_block(sums, factors(d), total(products), minimums, x.scales[0]);
    }
    stored(sums)
}

/// Returns the `d` of four rows, then their `dmin`.
#[inline]
#[target_feature(enable = "avx512vl")]
fn factors(d: [__m128; STREAMS]) -> [__m128; 2] {
    let (a, b) = (_mm_unpacklo_ps(d[0], d[1]), _mm_unpacklo_ps(d[2], d[3]));
    [_mm_movelh_ps(a, b), _mm_movehl_ps(b, a)]
}
