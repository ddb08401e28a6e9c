//! Activations to int8, 16 at a time.

use std::arch::x86_64::*;

use crate::input::{BLOCK, GROUP, Int8Group, SUM};

/// [`crate::input::quantize_activations`], to the same numbers.
///
/// # Safety
/// The machine has the instructions of
/// [`Rung::Avx512Vnni`](crate::rung::Rung::Avx512Vnni).
#[target_feature(enable = "avx512bw,avx512vl")]
pub(crate) fn quantize_activations(x: &[f32], per_scale: usize, groups: &mut [Int8Group]) {
    for (x, group) in x.chunks(GROUP).zip(groups) {
        match x.try_into() {
            Ok(x) => quantize(x, per_scale, group),
            Err(_) => {
                let mut filled = [0.0; GROUP];
                filled[..x.len()].copy_from_slice(x);
                quantize(&filled, per_scale, group);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn quantize(x: &[f32; GROUP], per_scale: usize, group: &mut Int8Group) {
    let mut absmax = [0f32; GROUP / BLOCK];
    for (b, absmax) in absmax.iter_mut().enumerate() {
        *absmax = _mm512_reduce_max_ps(_mm512_max_ps(
            _mm512_abs_ps(load(x, 2 * b)),
            _mm512_abs_ps(load(x, 2 * b + 1)),
        ));
    }
    if per_scale == GROUP {
        absmax = [absmax.into_iter().fold(0.0, f32::max); GROUP / BLOCK];
    }
    for b in 0..GROUP / BLOCK {
        group.scales[b] = absmax[b] / 127.0;
        let inverse = _mm512_set1_ps(if absmax[b] > 0.0 { 127.0 / absmax[b] } else { 0.0 });
        for i in 2 * b..2 * b + 2 {
            // Conversion rounds to the nearest, ties to even.
            let values = _mm512_cvtps_epi32(_mm512_mul_ps(load(x, i), inverse));
            // SAFETY: 16 values of 8 bits are 16 bytes.
            unsafe {
                _mm_storeu_si128(
                    group.values[i * SUM..][..SUM].as_mut_ptr().cast(),
                    _mm512_cvtepi32_epi8(values),
                );
            };
            group.sums[i] = _mm512_reduce_add_epi32(values) as i16;
        }
    }
}

/// Values 16i to 16i + 15.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(x: &[f32; GROUP], i: usize) -> __m512 {
    // SAFETY: 16 numbers of 32 bits are 64 bytes.
    unsafe { _mm512_loadu_ps(x[i * SUM..][..SUM].as_ptr()) }
}
