//! Formats whose blocks have 256 weights and integer scales, times few rows of activations.
//!
//! Scales are applied to integers: sums of four products, packed to 16 bits, are multiplied with
//! their scales and added by `vpdpwssd`. So there is one conversion to floats in a block.

use std::arch::x86_64::*;

use super::{
    lanes::{add_up, part, sixteen_bits},
    order::Order,
    panel,
};
use crate::{
    input::{Input, Int8Group},
    matrix::Matrix,
    parallel::Tile,
    prefetch::{distance, prefetch},
    streams::{STREAMS, each_four},
};

/// A block out of its bytes: a weight is `d · scale · code − dmin · minimum`.
pub(super) struct Superblock {
    /// Unsigned, at most 63, in the format's [`Order`].
    pub(super) codes: [__m512i; 4],
    /// 16-bit, one for each 16 columns.
    pub(super) scales: __m256i,
    /// As many. In a format whose codes have an offset, these are the scales, and `dmin` is the
    /// offset times `d`.
    pub(super) minimums: __m256i,
    /// `d` and `dmin`.
    pub(super) d: __m128,
}

impl Superblock {
    /// With its scales as floats.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn row(self) -> panel::Row {
        let floats = |scales: __m256i| _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(scales));
        let minus_dmin = _mm_sub_ps(_mm_setzero_ps(), _mm_movehdup_ps(self.d));
        panel::Row {
            codes: self.codes,
            scales: _mm512_mul_ps(floats(self.scales), _mm512_broadcastss_ps(self.d)),
            minimums: _mm512_mul_ps(floats(self.minimums), _mm512_broadcastss_ps(minus_dmin)),
        }
    }
}

/// A [`Kernel`](crate::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    order: &Order,
    unpack: impl Fn(&[u8; BYTES]) -> Superblock + Copy,
) {
    each_four(weight, tile, |rows, t| dot(rows, x.int8_row(t), order, unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize>(
    rows: [&[u8]; STREAMS],
    x: &[Int8Group],
    order: &Order,
    unpack: impl Fn(&[u8; BYTES]) -> Superblock,
) -> [f32; STREAMS] {
    let ahead = distance();
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let mut minimums = [_mm256_setzero_ps(); STREAMS];
    assert!(rows[0].len() == x.len() * BYTES, "a block for each group");
    for (g, x) in x.iter().enumerate() {
        let values = order.arrange(x);
        // SAFETY: 16 sums of 16 bits are 32 bytes.
        let x_sums = unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) };
        let x_scale = _mm_set1_ps(x.scales[0]);
        for s in 0..STREAMS {
            let block = part(rows[s], g * BYTES);
            prefetch(block, ahead);
            let w = unpack(block);
            let scales = _mm512_castsi256_si512(w.scales);
            let four =
                |v: usize| _mm512_dpbusd_epi32(_mm512_setzero_si512(), w.codes[v], values[v]);
            // At most 4 · 63 · 127, so 16 bits hold it.
            let (a, b) =
                (_mm512_packs_epi32(four(0), four(1)), _mm512_packs_epi32(four(2), four(3)));
            let products = _mm512_madd_epi16(
                a,
                _mm512_permutexvar_epi16(sixteen_bits(&order.scales[0]), scales),
            );
            let products = _mm512_dpwssd_epi32(
                products,
                b,
                _mm512_permutexvar_epi16(sixteen_bits(&order.scales[1]), scales),
            );
            let below = _mm256_madd_epi16(w.minimums, x_sums);
            let d = _mm_mul_ps(w.d, x_scale);
            sums[s] =
                _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), _mm512_broadcastss_ps(d), sums[s]);
            minimums[s] = _mm256_fmadd_ps(
                _mm256_cvtepi32_ps(below),
                _mm256_broadcastss_ps(_mm_movehdup_ps(d)),
                minimums[s],
            );
        }
    }
    for s in 0..STREAMS {
        sums[s] = _mm512_sub_ps(sums[s], _mm512_zextps256_ps512(minimums[s]));
    }
    add_up(sums)
}
