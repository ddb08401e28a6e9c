//! Formats whose blocks have 256 weights and integer scales, times few rows of activations.
//!
//! Scales are applied to integers: `vpmaddubsw` adds two products to 16 bits, `vpdpwssd` multiplies those with their scales and adds them
//! to 32-bit sums. So there is one conversion to floats in a block.

use std::arch::x86_64::*;

use super::{
    lanes::{Order, load_lanes, part},
    panel,
    streams::{STREAMS, each_four, prefetch},
};
use crate::week2::{
    input::{GROUP, Input, Int8Group, SUM},
    matrix::Matrix,
    parallel::Tile,
};

/// A block out of its bytes: a weight is `d · scale · code − dmin · minimum`.
pub(super) struct Superblock {
    /// Unsigned, at most 63, in the format's [`Order`].
    pub(super) codes: [__m512i; 4],
    /// 16-bit, one for each 16 columns.
    pub(super) scales: __m256i,
    /// As many. In a format whose codes have an offset, these are the scales, and `dmin` is the offset times `d`.
    pub(super) minimums: __m256i,
    pub(super) d: f32,
    pub(super) dmin: f32,
}

impl Superblock {
    /// With its scales as floats.
    #[inline]
    #[target_feature(enable = "avx512bw")]
    pub(super) fn row(self) -> panel::Row {
        let scaled = |scales: __m256i, d: f32| _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(scales)), _mm512_set1_ps(d));
        panel::Row { codes: self.codes, scales: scaled(self.scales, self.d), minimums: scaled(self.minimums, -self.dmin) }
    }
}

/// A [`Kernel`](crate::week2::kernels::Kernel).
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
pub(super) fn multiply<const BYTES: usize>(
    weight: &Matrix,
    x: &Input,
    tile: &mut Tile<'_, f32>,
    order: Order,
    unpack: impl Fn(&[u8; BYTES]) -> Superblock + Copy,
) {
    each_four(weight, tile, |rows, t| dot(rows.map(|row| row.as_chunks::<BYTES>().0), x.int8_row(t), order, unpack));
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni,f16c")]
fn dot<const BYTES: usize>(
    rows: [&[[u8; BYTES]]; STREAMS],
    x: &[Int8Group],
    order: Order,
    unpack: impl Fn(&[u8; BYTES]) -> Superblock,
) -> [f32; STREAMS] {
    // Which scale meets which pair of products.
    let index: [[i16; 32]; 4] = std::array::from_fn(|j| std::array::from_fn(|w| order[4 * j + w / 8] as i16));
    // SAFETY: both are 64 bytes, of which every value is valid.
    let index = index.map(|index| unsafe { std::mem::transmute::<[i16; 32], __m512i>(index) });
    let mut sums = [_mm512_setzero_ps(); STREAMS];
    let mut minimums = [_mm256_setzero_ps(); STREAMS];
    for (b, x) in x.iter().enumerate() {
        let values: [__m512i; 4] = std::array::from_fn(|j| load_lanes(std::array::from_fn(|l| piece(x, order[4 * j + l]))));
        // SAFETY: 16 sums of 16 bits are 32 bytes.
        let x_sums = unsafe { _mm256_loadu_si256(x.sums.as_ptr().cast()) };
        for s in 0..STREAMS {
            let block = &rows[s][b];
            (0..BYTES).step_by(64).for_each(|at| prefetch(block.as_ptr().wrapping_add(at)));
            let w = unpack(block);
            let scales = _mm512_castsi256_si512(w.scales);
            let mut products = _mm512_setzero_si512();
            for j in 0..4 {
                let pairs = _mm512_maddubs_epi16(w.codes[j], values[j]);
                products = _mm512_dpwssd_epi32(products, pairs, _mm512_permutexvar_epi16(index[j], scales));
            }
            sums[s] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), _mm512_set1_ps(w.d * x.scale), sums[s]);
            let below = _mm256_cvtepi32_ps(_mm256_madd_epi16(w.minimums, x_sums));
            minimums[s] = _mm256_fmadd_ps(below, _mm256_set1_ps(w.dmin * x.scale), minimums[s]);
        }
    }
    std::array::from_fn(|s| _mm512_reduce_add_ps(_mm512_sub_ps(sums[s], _mm512_zextps256_ps512(minimums[s]))))
}

/// Activations 16p to 16p + 15.
#[inline(always)]
fn piece(x: &Int8Group, p: usize) -> &[u8; SUM] {
    part(bytemuck::cast_ref::<[i8; GROUP], [u8; GROUP]>(&x.values), p * SUM)
}
