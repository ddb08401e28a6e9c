//! Quantizes activations to int8, 32 at a time.

use std::arch::aarch64::*;

use super::lanes::load_floats;
use crate::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    int8::{self, each_super_block},
};

/// Quantizes the row `x` into `super_blocks`, with the same result as the course's scalar function.
#[target_feature(enable = "neon")]
pub(crate) fn quantize_activations(
    x: &[f32],
    per_scale: usize,
    super_blocks: &mut [Int8SuperBlock],
) {
    each_super_block(x, super_blocks, |x, super_block| quantize(x, per_scale, super_block));
}

#[inline]
#[target_feature(enable = "neon")]
fn quantize(x: &[f32; SUPER_BLOCK], per_scale: usize, super_block: &mut Int8SuperBlock) {
    let blocks = x.as_chunks::<BLOCK>().0;
    let mut absmax = [0.0; SUPER_BLOCK / BLOCK];
    for (absmax, x) in absmax.iter_mut().zip(blocks) {
        *absmax = largest(x);
    }
    if per_scale == SUPER_BLOCK {
        absmax = [int8::largest(absmax); SUPER_BLOCK / BLOCK];
    }
    let values = super_block.values.as_chunks_mut::<SUM>().0;
    for (i, (x, values)) in x.as_chunks::<SUM>().0.iter().zip(values).enumerate() {
        let absmax = absmax[i * SUM / BLOCK];
        super_block.scales[i * SUM / BLOCK] = int8::scale(absmax);
        let inverse = if absmax > 0.0 { 127.0 / absmax } else { 0.0 };
        // Rounds to nearest, ties to even.
        let four =
            |j: usize| vcvtnq_s32_f32(vmulq_n_f32(load_floats(&x.as_chunks().0[j]), inverse));
        let eight = |j: usize| vqmovn_high_s32(vqmovn_s32(four(j)), four(j + 1));
        let sixteen = vqmovn_high_s16(vqmovn_s16(eight(0)), eight(2));
        // SAFETY: the reference is to 16 bytes.
        unsafe { vst1q_s8(values.as_mut_ptr(), sixteen) };
        super_block.sums[i] = vaddlvq_s8(sixteen);
    }
}

/// Returns the largest magnitude, or NaN if any element is NaN.
#[inline]
#[target_feature(enable = "neon")]
fn largest(x: &[f32; BLOCK]) -> f32 {
    let mut largest = vdupq_n_f32(0.0);
    for x in x.as_chunks().0 {
        // Unlike `vmaxnmq_f32`, this instruction keeps a NaN.
        largest = vmaxq_f32(largest, vabsq_f32(load_floats(x)));
    }
    vmaxvq_f32(largest)
}
