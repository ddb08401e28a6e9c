//! Products of blocks of 32 weights and a few rows of activations.
//!
//! **One order of additions.** An output must not depend, bit for bit, on the number of rows of
//! activations, so the kernels for a few rows and those for many rows ([`product`](super::product))
//! add in the same order. Integer sums are exact in any order, so all products of a block are added
//! as integers, even across lanes. Blocks are then added in pairs: `p = (scale · sum) of the even
//! block + (scale · sum) of the odd block`. The output is `((p0 + p1) + p2) + …`.

use std::arch::x86_64::*;

use super::lanes::{halves_in_pairs, load_floats, load_sums, powers_in_pairs};
use crate::{
    format::{Format, Zero, power_of_two},
    input::Int8SuperBlock,
};

/// Multiplies up to eight blocks by a super-block of activations, and adds the products to the
/// first lane of `sum`. `products(b, p)` must multiply block `b` by 32 activations `p` and return
/// the products' sums in eight lanes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot<F: Format, const BYTES: usize>(
    blocks: &[[u8; BYTES]],
    x: &Int8SuperBlock,
    sum: __m128,
    products: impl Fn(&[u8; BYTES], &[i8; 32]) -> __m256i,
) -> __m128 {
    let values = x.values.as_chunks().0;
    let products = |b: usize| match blocks.get(b) {
        Some(block) => products(block, &values[b]),
        None => _mm256_setzero_si256(),
    };
    let two = |b: usize| {
        let (even, odd) = (products(b), products(b + 1));
        _mm256_add_epi32(
            _mm256_permute2x128_si256::<0x20>(even, odd),
            _mm256_permute2x128_si256::<0x31>(even, odd),
        )
    };
    let both = [two(0), two(2), two(4), two(6)];
    add_pairs(sum, in_pairs(both), &Scales::of::<F, BYTES>(blocks, x))
}

/// Adds up the four sums of each of eight blocks. Each element of `both` has the sums of an even
/// block, then those of the next block. The result has the even blocks in the lower half.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn in_pairs(both: [__m256i; 4]) -> __m256i {
    let [a, b, c, d] = both;
    _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d))
}

/// Factors and offsets of the sums of eight blocks. Each register has the even blocks in its lower
/// half.
pub(super) struct Scales {
    /// Scales of the weights times scales of the activations.
    factors: __m256,
    /// Integers that compensate for the codes' offsets, added to each block's sum.
    offsets: Option<__m256i>,
    /// Minimums, and the scaled sums of activations by which they are multiplied.
    minimums: Option<[__m256; 2]>,
}

impl Scales {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn of<F: Format, const BYTES: usize>(
        blocks: &[[u8; BYTES]],
        x: &Int8SuperBlock,
    ) -> Self {
        let pairs = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
        let x_scales = _mm256_permutevar8x32_ps(load_floats(&x.scales), pairs);
        let sums = |by: i16| {
            let sums = _mm256_madd_epi16(load_sums(&x.sums), _mm256_set1_epi16(by));
            _mm256_permutevar8x32_epi32(sums, pairs)
        };
        let scales = if const { power_of_two::<F>() } {
            powers_in_pairs(blocks)
        } else {
            halves_in_pairs::<0, BYTES>(blocks)
        };
        Self {
            factors: _mm256_mul_ps(scales, x_scales),
            offsets: match F::ZERO {
                Zero::Offset(offset) if offset > 0 => Some(sums(-i16::from(offset))),
                _ => None,
            },
            minimums: match F::ZERO {
                Zero::Offset(_) => None,
                Zero::Minimum => {
                    let totals = _mm256_mul_ps(_mm256_cvtepi32_ps(sums(1)), x_scales);
                    Some([halves_in_pairs::<2, BYTES>(blocks), totals])
                }
            },
        }
    }
}

/// Scales `products`, one sum for each of eight blocks, and adds them to the first lane of `sum`.
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_pairs(sum: __m128, products: __m256i, scales: &Scales) -> __m128 {
    let products = match scales.offsets {
        Some(offsets) => _mm256_add_epi32(products, offsets),
        None => products,
    };
    let products = _mm256_cvtepi32_ps(products);
    let even = |v: __m256| _mm256_castps256_ps128(v);
    let odd = |v: __m256| _mm256_extractf128_ps::<1>(v);
    let mut pairs = _mm_mul_ps(even(scales.factors), even(products));
    if let Some([minimums, totals]) = scales.minimums {
        pairs = _mm_fmadd_ps(even(minimums), even(totals), pairs);
    }
    pairs = _mm_fmadd_ps(odd(scales.factors), odd(products), pairs);
    if let Some([minimums, totals]) = scales.minimums {
        pairs = _mm_fmadd_ps(odd(minimums), odd(totals), pairs);
    }
    let sum = _mm_add_ss(sum, pairs);
    let sum = _mm_add_ss(sum, _mm_movehdup_ps(pairs));
    let upper = _mm_movehl_ps(pairs, pairs);
    let sum = _mm_add_ss(sum, upper);
    _mm_add_ss(sum, _mm_movehdup_ps(upper))
}

/// Multiplies 32 codes by 32 values, and adds every four neighbouring products. The sum of two
/// products is at most 2 · 31 · 127, which fits in i16.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn fours(codes: __m256i, values: __m256i) -> __m256i {
    _mm256_madd_epi16(_mm256_maddubs_epi16(codes, values), _mm256_set1_epi16(1))
}
