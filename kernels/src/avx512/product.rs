//! The product of two panels and up to six rows of activations. [`fours`](super::fours) describes
//! the order of additions.

use std::arch::x86_64::*;

use super::{
    panel::{LANES, Panel},
    sums::{Sums, four_at, integers},
    superproduct,
};
use crate::{
    format::{Format, Zero, scale_per_block},
    input::{Int8SuperBlock, SUM},
};

/// Adds the products of two panels and `N` super-blocks of activations to `sums [N]`.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
pub(super) fn add<'x, F: Format, const N: usize>(
    panels: &[Panel; 2],
    super_block: impl Fn(usize) -> &'x Int8SuperBlock,
    blocks: usize,
    sums: &mut [Sums],
) {
    let super_blocks: [&Int8SuperBlock; N] = std::array::from_fn(super_block);
    let sums = sums.first_chunk_mut().expect("a sum for each super-block");
    if scale_per_block::<F>() {
        add_blocks::<F, N>(panels, super_blocks, blocks, sums);
    } else {
        superproduct::add::<F, N>(panels, super_blocks, sums);
    }
}

/// Like [`add`], for formats with blocks of 32 columns. `blocks` is the number of blocks, at most
/// eight.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl,avx512vnni")]
fn add_blocks<F: Format, const N: usize>(
    panels: &[Panel; 2],
    x: [&Int8SuperBlock; N],
    blocks: usize,
    all: &mut [Sums; N],
) {
    let (starts, totals) = starts_and_totals::<F, N>(x);
    let code = |h: usize, i: usize| panels[h].codes[i];
    // Returns the sum of blocks l and l + 4. This is a macro, because the sums must stay in
    // registers.
    macro_rules! pair {
        ($first:expr) => {{
            let mut pair = [[_mm512_setzero_ps(); 2]; N];
            for block in [$first, $first + 4] {
                if block >= blocks {
                    break;
                }
                let sums = integers!(F, N, code, x, block, starts);
                let piece = block * F::PER_SCALE / SUM;
                for n in 0..N {
                    for h in 0..2 {
                        let (sum, scale) =
                            (_mm512_cvtepi32_ps(sums[n][h]), _mm512_set1_ps(x[n].scales[block]));
                        let scaled = _mm512_mul_ps(sum, scale);
                        let scale = _mm512_castsi512_ps(panels[h].factors.scales[piece]);
                        pair[n][h] = _mm512_fmadd_ps(scaled, scale, pair[n][h]);
                        if F::ZERO == Zero::Minimum {
                            let minimum = _mm512_castsi512_ps(panels[h].factors.minimums[piece]);
                            let total = _mm512_set1_ps(totals[n][block]);
                            pair[n][h] = _mm512_fmadd_ps(minimum, total, pair[n][h]);
                        }
                    }
                }
            }
            pair
        }};
    }
    let mut eights = [[_mm512_setzero_ps(); 2]; N];
    for half in 0..2 {
        let (a, b) = (pair!(half), pair!(half + 2));
        for n in 0..N {
            for h in 0..2 {
                eights[n][h] = _mm512_add_ps(eights[n][h], _mm512_add_ps(a[n][h], b[n][h]));
            }
        }
    }
    for n in 0..N {
        for h in 0..2 {
            all[n][h] = _mm512_add_ps(all[n][h], eights[n][h]);
        }
    }
}

/// Returns two numbers for each block of 32 columns: the amount that the offset subtracts, which is
/// the same for all rows of weights, and the sum of activations by which minimums are multiplied.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) fn starts_and_totals<F: Format, const N: usize>(
    x: [&Int8SuperBlock; N],
) -> ([[i32; 8]; N], [[f32; 8]; N]) {
    let (mut starts, mut totals) = ([[0i32; 8]; N], [[0f32; 8]; N]);
    for n in 0..N {
        // SAFETY: every load and store is 32 bytes, which is 16 sums of 16 bits or 8 numbers of 32
        // bits.
        unsafe {
            let sums = _mm256_loadu_si256(x[n].sums.as_ptr().cast());
            let sums = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
            if let Zero::Offset(offset) = F::ZERO {
                let offset = _mm256_mullo_epi32(sums, _mm256_set1_epi32(-i32::from(offset)));
                _mm256_storeu_si256(starts[n].as_mut_ptr().cast(), offset);
            } else {
                let scales = _mm256_loadu_ps(x[n].scales.as_ptr());
                let all = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), scales);
                _mm256_storeu_ps(totals[n].as_mut_ptr(), all);
            }
        }
    }
    (starts, totals)
}

/// Stores the first `out.len()` of 32 elements.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn store(sums: [__m512; 2], out: &mut [f32]) {
    for (out, sums) in out.chunks_mut(LANES).zip(sums) {
        // SAFETY: the mask has a bit for each number in `out`.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), u16::MAX >> (LANES - out.len()), sums) };
    }
}
