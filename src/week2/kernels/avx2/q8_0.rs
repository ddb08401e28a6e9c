//! Unlike the integer rung (the scalar kernels of day 5), this kernel computes 32 products with one
//! instruction, `maddubs`. One factor of `maddubs` must be unsigned: use |weight|, and move the
//! weight's sign to the activation.
//!
//! Tasks here: week2-day6 task 1 (`dot`). Everything else is provided.

use std::arch::x86_64::*;

use tiny_llm_kernels::avx2::lanes::{halves, load, load_signed};

use crate::week2::input::Int8SuperBlock;

/// Computes the dot product of up to eight blocks of weights and a super-block of activations.
/// Returns it in eight lanes. The caller adds up the lanes. The product includes the scales of the
/// blocks and of the activations. The product is NaN if a block's activations have a scale of NaN.
///
/// The sum of two products of codes is at most 2 · 128 · 127, which fits i16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(blocks: &[[u8; 34]], x: &Int8SuperBlock) -> __m256 {
    todo!("week2-day6 task 1: dot")
}
