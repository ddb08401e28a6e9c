//! Sums of four rows of weights side by side: the last step of kernels for a few rows of
//! activations.
//!
//! **One order of additions.** An output must not depend, bit for bit, on the number of rows of
//! activations, so the kernels for a few rows and those for many rows ([`product`](super::product))
//! add in the same order. Integer sums are exact in any order, so products that share a scale are
//! added as integers, even across lanes. Then:
//!
//! - Blocks of 32 are added eight at a time. Block `l` and then block `l + 4` are added to the same
//!   pair: `pair = pair + (x_scale · products) · d`, and in formats with minimums, `pair = pair +
//!   min · total`, each with one rounding. Then `(p0 + p2) + (p1 + p3)` is added to the row's sum
//!   ([`eights`](super::eights)). If the blocks were added one after the other, each addition would
//!   wait for the previous one, and the additions would take longer than everything else. Moving
//!   blocks to the right by some places, with zeros before them, gives the same sum, because it
//!   only permutes the pairs. If fewer than eight blocks are left in a row, they are moved in this
//!   way.
//! - The integer sum of a block of 256 may need more bits than a float has. So the block is added
//!   in four parts, each rounded once: `(L0 + L1) + (L2 + L3)` ([`total`]). Then the result is
//!   multiplied by the scales of the block and of the activations ([`add_block`]).

use std::arch::x86_64::*;

use crate::streams::STREAMS;

/// Adds integers within lanes: lane `l` of the result has one number for each row, which is the sum
/// of the row's lane `l`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add_lanes(v: [__m512i; STREAMS]) -> __m512i {
    let add = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    add(add(v[0], v[2]), add(v[1], v[3]))
}

/// Returns, for each row, the sum of the row's eight numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_eights(v: [__m256i; STREAMS]) -> __m128i {
    let add = |a, b| _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let lanes = add(add(v[0], v[2]), add(v[1], v[3]));
    _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes))
}

/// Returns, for each row, the sum of a 256-weight block's products, rounded part by part.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn total(products: [__m512i; STREAMS]) -> __m128 {
    let parts = _mm512_cvtepi32_ps(add_lanes(products));
    let twos = _mm512_add_ps(parts, _mm512_shuffle_f32x4::<0b10_11_00_01>(parts, parts));
    let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(twos)));
    _mm_add_ps(_mm512_castps512_ps128(twos), _mm256_castps256_ps128(upper))
}

/// Adds a 256-weight block of each row to its sum: `sum + (d · total − dmin · minimums) · x_scale`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn add_block(
    sum: __m128,
    [d, dmin]: [__m128; 2],
    total: __m128,
    minimums: Option<__m128i>,
    x_scale: f32,
) -> __m128 {
    let mut scaled = _mm_mul_ps(d, total);
    if let Some(minimums) = minimums {
        scaled = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(minimums), scaled);
    }
    _mm_fmadd_ps(scaled, _mm_set1_ps(x_scale), sum)
}

/// Stores the sums of four rows in an array.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn stored(sums: __m128) -> [f32; STREAMS] {
    let mut out = [0.0; STREAMS];
    // SAFETY: the store writes 16 bytes, which is four numbers of 32 bits.
    unsafe { _mm_storeu_ps(out.as_mut_ptr(), sums) };
    out
}
