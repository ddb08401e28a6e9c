//! Computes softmax weights with 512-bit instructions. They are bit for bit the same as those of
//! [`loops`](crate::loops).

use std::arch::x86_64::*;

use crate::loops::exp_constants::*;

/// Number of elements of a vector.
const LANES: usize = 16;

/// Computes [`exp_sum`](crate::vector::exp_sum). Works on two vectors at a time, because most
/// operations on one vector have to wait for the previous operation.
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) fn exp_sum(scores: &mut [f32], max: f32) -> f32 {
    let max = _mm512_set1_ps(max);
    let mut sums = _mm512_setzero_ps();
    let (twos, rest) = scores.as_chunks_mut::<{ 2 * LANES }>();
    for two in twos {
        let at = two.as_mut_ptr();
        // SAFETY: `two` has 32 numbers.
        unsafe {
            let first = exp(_mm512_sub_ps(_mm512_loadu_ps(at), max));
            let second = exp(_mm512_sub_ps(_mm512_loadu_ps(at.add(LANES)), max));
            _mm512_storeu_ps(at, first);
            _mm512_storeu_ps(at.add(LANES), second);
            sums = _mm512_add_ps(_mm512_add_ps(sums, first), second);
        }
    }
    for part in rest.chunks_mut(LANES) {
        let there = u16::MAX >> (LANES - part.len());
        // SAFETY: the mask has a bit for each number in `part`.
        unsafe {
            let x = _mm512_maskz_loadu_ps(there, part.as_ptr());
            let power = _mm512_maskz_mov_ps(there, exp(_mm512_sub_ps(x, max)));
            _mm512_mask_storeu_ps(part.as_mut_ptr(), there, power);
            sums = _mm512_add_ps(sums, power);
        }
    }
    halves(sums)
}

/// Returns [`exp`](crate::loops::exp) of each element.
#[inline]
#[target_feature(enable = "avx512f")]
fn exp(x: __m512) -> __m512 {
    let all = |x| _mm512_set1_ps(x);
    // With this order of operands, the minimum of a number and NaN is NaN.
    let clamped = _mm512_min_ps(all(HIGHEST), x);
    let shifted = _mm512_fmadd_ps(clamped, all(std::f32::consts::LOG2_E), all(ROUND));
    let n = _mm512_sub_ps(shifted, all(ROUND));
    let f = _mm512_fmadd_ps(n, all(-LN2_HIGH), clamped);
    let f = _mm512_fmadd_ps(n, all(-LN2_LOW), f);
    let mut p = all(SERIES[0]);
    for i in 1..SERIES.len() {
        p = _mm512_fmadd_ps(p, f, all(SERIES[i]));
    }
    let power = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
    let power = _mm512_add_epi32(power, _mm512_set1_epi32(0x3f80_0000));
    let result = _mm512_mul_ps(p, _mm512_castsi512_ps(power));
    let finite = _mm512_cmp_ps_mask::<_CMP_NGT_UQ>(x, all(HIGHEST));
    let result = _mm512_mask_mov_ps(all(f32::INFINITY), finite, result);
    _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, all(LOWEST)), result)
}

/// Returns the sum of a vector's elements: adds the halves, then quarters, and so on.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(x: __m512) -> f32 {
    let x = _mm512_add_ps(x, _mm512_shuffle_f32x4::<0b11_10_11_10>(x, x));
    let x = _mm512_add_ps(x, _mm512_shuffle_f32x4::<0b01_01_01_01>(x, x));
    let x = _mm512_castps512_ps128(x);
    let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops;

    #[test]
    fn matches_the_plain_loops() {
        if !crate::rung::Rung::Avx512Vnni.is_available() {
            return println!("not verified: this processor lacks AVX-512");
        }
        for n in 0..100 {
            for scale in [0.001, 0.1, 3.0, 70.0] {
                let scores: Vec<f32> =
                    (0..n).map(|i| ((i * 37 + n) % 101 - 50) as f32 * scale).collect();
                for max in [-3.0, 0.5, 150.0] {
                    let (mut found, mut expected) = (scores.clone(), scores.clone());
                    if n > 3 {
                        (found[n as usize / 2], expected[n as usize / 2]) =
                            (f32::NEG_INFINITY, f32::NEG_INFINITY);
                    }
                    // SAFETY: the processor has the instructions.
                    let sum = unsafe { exp_sum(&mut found, max) };
                    let wanted = loops::exp_sum_of_any::<loops::Fused>(&mut expected, max);
                    assert_eq!(found, expected, "{n} scores, times {scale}, less {max}");
                    assert_eq!(sum, wanted, "the sum of {n} scores, times {scale}, less {max}");
                }
            }
        }
        // SAFETY: as above.
        assert!(unsafe { exp_sum(&mut [f32::NAN, 1.0], 0.0) }.is_nan());
    }
}
