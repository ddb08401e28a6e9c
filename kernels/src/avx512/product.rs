//! The product of two panels and some rows of activations: what all prefill comes down to.

use std::arch::x86_64::*;

use super::panel::{LANES, Panel};
use crate::{
    format::{Format, Zero, scale_per_block},
    input::{Int8Group, SUM},
};

/// Adds the products of two panels and `N` groups of activations to `sums [N]`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) fn add<'x, F: Format, const N: usize>(
    panels: &[Panel; 2],
    group: impl Fn(usize) -> &'x Int8Group,
    blocks: usize,
    sums: &mut [[__m512; 2]],
) {
    let groups: [&Int8Group; N] = std::array::from_fn(group);
    let products = product::<F, N>(panels, groups, blocks);
    for n in 0..N {
        let scale = _mm512_set1_ps(groups[n].scales[0]);
        for h in 0..2 {
            sums[n][h] = if scale_per_block::<F>() {
                _mm512_add_ps(products[n][h], sums[n][h])
            } else {
                _mm512_fmadd_ps(products[n][h], scale, sums[n][h])
            };
        }
    }
}

/// The product of two panels with `N` groups of activations, but for their scale where a group has
/// one for all.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn product<F: Format, const N: usize>(
    panels: &[Panel; 2],
    x: [&Int8Group; N],
    blocks: usize,
) -> [[__m512; 2]; N] {
    // For each block of columns: what the offset takes off, which is the same in all rows, and what
    // a minimum is multiplied with.
    let (mut starts, mut totals) = ([[0i32; LANES]; N], [[0f32; LANES]; N]);
    for n in 0..N {
        // SAFETY: 16 sums of 16 bits are 32 bytes, as are 8 numbers of 32 bits; 16 of them are 64.
        unsafe {
            let sums = _mm256_loadu_si256(x[n].sums.as_ptr().cast());
            let sums = match F::PER_SCALE {
                16 => _mm512_cvtepi16_epi32(sums),
                _ => _mm512_zextsi256_si512(_mm256_madd_epi16(sums, _mm256_set1_epi16(1))),
            };
            if let Zero::Offset(offset) = F::ZERO {
                let offset = _mm512_mullo_epi32(sums, _mm512_set1_epi32(-i32::from(offset)));
                _mm512_storeu_si512(starts[n].as_mut_ptr().cast(), offset);
            }
            let mut all = _mm512_cvtepi32_ps(sums);
            if scale_per_block::<F>() {
                all = _mm512_mul_ps(
                    all,
                    _mm512_zextps256_ps512(_mm256_loadu_ps(x[n].scales.as_ptr())),
                );
            }
            _mm512_storeu_ps(totals[n].as_mut_ptr(), all);
        }
    }
    let mut out = [[_mm512_setzero_ps(); 2]; N];
    for block in 0..blocks {
        let mut sums = [[_mm512_setzero_si512(); 2]; N];
        for n in 0..N {
            sums[n] = [_mm512_set1_epi32(starts[n][block]); 2];
        }
        for i in block * F::PER_SCALE / 4..(block + 1) * F::PER_SCALE / 4 {
            for n in 0..N {
                let four = _mm512_set1_epi32(four_at(x[n], i));
                for h in 0..2 {
                    sums[n][h] = _mm512_dpbusd_epi32(sums[n][h], panels[h].codes[i], four);
                }
            }
        }
        for n in 0..N {
            for h in 0..2 {
                let piece = block * F::PER_SCALE / SUM;
                let mut sum = _mm512_cvtepi32_ps(sums[n][h]);
                if scale_per_block::<F>() {
                    sum = _mm512_mul_ps(sum, _mm512_set1_ps(x[n].scales[block]));
                }
                out[n][h] =
                    _mm512_fmadd_ps(sum, _mm512_castsi512_ps(panels[h].scales[piece]), out[n][h]);
                if F::ZERO == Zero::Minimum {
                    out[n][h] = _mm512_fmadd_ps(
                        _mm512_castsi512_ps(panels[h].minimums[piece]),
                        _mm512_set1_ps(totals[n][block]),
                        out[n][h],
                    );
                }
            }
        }
    }
    out
}

/// Activations 4i to 4i + 3 as one number.
#[inline(always)]
fn four_at(x: &Int8Group, i: usize) -> i32 {
    let v = &x.values[4 * i..4 * i + 4];
    i32::from_le_bytes([v[0] as u8, v[1] as u8, v[2] as u8, v[3] as u8])
}

/// The first of 32 numbers, as many as there is room for.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(sums: [__m512; 2], out: &mut [f32]) {
    for (out, sums) in out.chunks_mut(LANES).zip(sums) {
        // SAFETY: the mask has a bit for each number in `out`.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), u16::MAX >> (LANES - out.len()), sums) };
    }
}

/// Asks for a group that will be needed soon: rows of activations lie too far apart for the
/// processor to guess the next.
#[inline]
pub(super) fn fetch(group: &Int8Group) {
    let start = std::ptr::from_ref(group).cast::<i8>();
    for line in 0..size_of::<Int8Group>() / 64 {
        // SAFETY: a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(64 * line)) };
    }
}
