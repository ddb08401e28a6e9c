//! Activations to int8, 16 at a time.

use std::arch::x86_64::*;

use crate::week2::input::{GROUP, Int8Group, SUM};

/// [`crate::week2::input::quantize_row`], to the same numbers.
///
/// # Safety
/// The machine has the instructions of [`Rung::Avx512Vnni`](crate::week2::kernels::Rung::Avx512Vnni).
#[target_feature(enable = "avx512bw,avx512vl")]
pub fn quantize_row(x: &[f32], groups: &mut [Int8Group]) {
    for (x, group) in x.chunks(GROUP).zip(groups) {
        match x.try_into() {
            Ok(x) => quantize(x, group),
            Err(_) => {
                let mut filled = [0.0; GROUP];
                filled[..x.len()].copy_from_slice(x);
                quantize(&filled, group);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn quantize(x: &[f32; GROUP], group: &mut Int8Group) {
    let mut max = _mm512_setzero_ps();
    for i in 0..GROUP / SUM {
        max = _mm512_max_ps(max, _mm512_abs_ps(load(x, i)));
    }
    let absmax = _mm512_reduce_max_ps(max);
    group.scale = absmax / 127.0;
    let inverse = _mm512_set1_ps(if absmax > 0.0 { 127.0 / absmax } else { 0.0 });
    for i in 0..GROUP / SUM {
        // Conversion rounds to the nearest, ties to even.
        let values = _mm512_cvtps_epi32(_mm512_mul_ps(load(x, i), inverse));
        // SAFETY: 16 values of 8 bits are 16 bytes.
        unsafe { _mm_storeu_si128(group.values[i * SUM..][..SUM].as_mut_ptr().cast(), _mm512_cvtepi32_epi8(values)) };
        group.sums[i] = _mm512_reduce_add_epi32(values) as i16;
    }
}

/// Values 16i to 16i + 15.
#[inline]
#[target_feature(enable = "avx512f")]
fn load(x: &[f32; GROUP], i: usize) -> __m512 {
    // SAFETY: 16 numbers of 32 bits are 64 bytes.
    unsafe { _mm512_loadu_ps(x[i * SUM..][..SUM].as_ptr()) }
}
