//! Unlike the integer rung (the scalar kernels of day 5), this kernel reads 32 codes with one load.
//! The instruction that widens sums of products to 32 bits also multiplies them by a scale.
//!
//! Tasks here: week2-day6 task 5 (`dot`). Everything else is provided.

use std::arch::aarch64::*;

use tiny_llm_kernels::neon::{
    lanes::{half, load, load_signed, load_sums},
    q4_k::scales_and_mins,
};

use crate::week2::input::Int8SuperBlock;

/// Computes the dot product of a block of weights and a super-block of activations. Returns it in
/// four lanes. The caller multiplies the lanes by the activations' scale and adds them up.
///
/// The sum of four products of codes is at most 4 · 15 · 127, which fits i16. Even with scales up
/// to 63, the sum over 8 sub-blocks easily fits i32.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn dot(block: &[u8; 144], x: &Int8SuperBlock) -> float32x4_t {
    // SOLUTION week2-day6 task 5
    let (scales, mins) = scales_and_mins(block[4..16].try_into().expect("12 bytes"));
    let (bytes, p) = (block[16..].as_chunks().0, x.values.as_chunks().0);
    let mut acc = vdupq_n_s32(0);
    for j in 0..4 {
        let both = [load(&bytes[2 * j]), load(&bytes[2 * j + 1])];
        let low = both.map(|both| vandq_u8(both, vdupq_n_u8(15)));
        let high = both.map(|both| vshrq_n_u8::<4>(both));
        for (i, codes) in [(2 * j, low), (2 * j + 1, high)] {
            let mut sums = vdupq_n_s16(0);
            for (h, codes) in codes.into_iter().enumerate() {
                let (q, p) = (vreinterpretq_s8_u8(codes), load_signed(&p[2 * i + h]));
                sums = vmlal_s8(sums, vget_low_s8(q), vget_low_s8(p));
                sums = vmlal_high_s8(sums, q, p);
            }
            acc = vmlal_n_s16(acc, vget_low_s16(sums), scales[i]);
            acc = vmlal_high_n_s16(acc, sums, scales[i]);
        }
    }
    let sums = x.sums.as_chunks().0;
    let sums = vpaddq_s16(load_sums(&sums[0]), load_sums(&sums[1]));
    let shift = vmull_s16(vget_low_s16(mins), vget_low_s16(sums));
    let shift = vmlal_high_s16(shift, mins, sums);
    let scaled = vmulq_n_f32(vcvtq_f32_s32(acc), half([block[0], block[1]]));
    vfmsq_n_f32(scaled, vcvtq_f32_s32(shift), half([block[2], block[3]]))
    // END SOLUTION
}
