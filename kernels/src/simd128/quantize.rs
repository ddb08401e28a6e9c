//! Quantizes activations to int8, 32 at a time.

use std::arch::wasm32::*;

use super::lanes::{load_floats, store_signed};
use crate::{
    input::{BLOCK, Int8SuperBlock, SUM, SUPER_BLOCK},
    int8::{self, each_super_block},
};

/// Quantizes the row `x` into `super_blocks`, with the same result as the course's scalar function.
pub(crate) fn quantize_activations(
    x: &[f32],
    per_scale: usize,
    super_blocks: &mut [Int8SuperBlock],
) {
    each_super_block(x, super_blocks, |x, super_block| quantize(x, per_scale, super_block));
}

#[inline]
fn quantize(x: &[f32; SUPER_BLOCK], per_scale: usize, super_block: &mut Int8SuperBlock) {
    let blocks = x.as_chunks::<BLOCK>().0;
    let mut absmax = [0.0; SUPER_BLOCK / BLOCK];
    for (absmax, x) in absmax.iter_mut().zip(blocks) {
        *absmax = int8::largest(x.iter().map(|x| x.abs()));
    }
    if per_scale == SUPER_BLOCK {
        absmax = [int8::largest(absmax); SUPER_BLOCK / BLOCK];
    }
    let values = super_block.values.as_chunks_mut::<SUM>().0;
    for (i, (x, values)) in x.as_chunks::<SUM>().0.iter().zip(values).enumerate() {
        let absmax = absmax[i * SUM / BLOCK];
        super_block.scales[i * SUM / BLOCK] = int8::scale(absmax);
        let inverse = f32x4_splat(if absmax > 0.0 { 127.0 / absmax } else { 0.0 });
        // Rounds to nearest, ties to even. NaN becomes 0.
        let four = |j: usize| {
            let x = f32x4_mul(load_floats(&x.as_chunks().0[j]), inverse);
            i32x4_trunc_sat_f32x4(f32x4_nearest(x))
        };
        let eight = |j: usize| i16x8_narrow_i32x4(four(j), four(j + 1));
        let sixteen = i8x16_narrow_i16x8(eight(0), eight(2));
        store_signed(values, sixteen);
        super_block.sums[i] = values.iter().map(|&q| i16::from(q)).sum();
    }
}
