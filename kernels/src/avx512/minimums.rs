//! Computes minimums times sums of activations. In formats with blocks of 256 weights, these
//! products are subtracted from the output.

use std::arch::{asm, x86_64::*};

use super::panel::Factors;
use crate::{
    format::{Format, Zero},
    input::{Int8SuperBlock, SUPER_BLOCK},
};

/// Returns the sums of activations by which minimums are multiplied, each of 16 or of 32
/// activations. They are packed in pairs of 16 bits, in the order of a panel's minimums.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn pairs<F: Format, const N: usize>(x: [&Int8SuperBlock; N]) -> [[i32; 8]; N] {
    let mut pairs = [[0; 8]; N];
    for n in 0..N {
        // SAFETY: the load and the store are 32 bytes, which is 16 sums of 16 bits or 8 numbers of
        // 32 bits.
        unsafe {
            let mut sums = _mm256_loadu_si256(x[n].sums.as_ptr().cast());
            if F::PER_SCALE == 32 {
                let both = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
                sums = _mm256_zextsi128_si256(_mm256_cvtepi32_epi16(both));
            }
            _mm256_storeu_si256(pairs[n].as_mut_ptr().cast(), sums);
        }
    }
    pairs
}

/// Returns, for each of `N` rows of activations, `Σ minimums · sums of activations` of 16 rows of
/// weights.
#[inline]
#[target_feature(enable = "avx512bw,avx512vnni")]
pub(super) fn minimums<F: Format, const N: usize>(
    factors: &Factors,
    pairs: &[[i32; 8]; N],
) -> [__m512i; N] {
    let mut products = [_mm512_setzero_si512(); N];
    if F::ZERO == Zero::Minimum {
        for i in 0..SUPER_BLOCK / F::PER_SCALE / 2 {
            for n in 0..N {
                let both = _mm512_set1_epi32(pairs[n][i]);
                products[n] = add_words(products[n], factors.minimums[i], both);
            }
        }
    }
    products
}

/// Adds the products of 16-bit numbers to `sums`, two to each sum: `vpdpwssd`. For the intrinsic,
/// the compiler emits a product and a separate addition, two instructions for an execution unit
/// that is often busy.
#[inline]
#[target_feature(enable = "avx512vnni")]
pub(crate) fn add_words(sums: __m512i, a: __m512i, b: __m512i) -> __m512i {
    let mut sums = sums;
    // SAFETY: the instruction uses only registers.
    unsafe {
        asm!(
            "vpdpwssd {sums}, {a}, {b}",
            sums = inout(zmm_reg) sums,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    };
    sums
}
