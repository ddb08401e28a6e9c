//! Unlike the integer rung (the scalar kernels of day 5), this kernel reads 64 codes with one load.
//! The instruction `maddubs` adds its 32 products in pairs. Then `madd` multiplies these 16 sums by
//! a scale and adds the results in pairs.
//!
//! Tasks here: week2-day6 task 2 (`dot`). Everything else is provided.

use std::arch::x86_64::*;

use tiny_llm_kernels::avx2::{
    lanes::{halves, load, load_signed, load_sums},
    q4_k::scales_and_mins,
};

use crate::week2::input::Int8SuperBlock;

/// Computes the dot product of a block of weights and a super-block of activations. Returns it in
/// eight lanes. The caller multiplies the lanes by the activations' scale and adds them up.
///
/// The sum of two products of codes is at most 2 · 15 · 127, which fits i16. Even with scales up to
/// 63, the sum over 8 sub-blocks easily fits i32.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot(block: &[u8; 144], x: &Int8SuperBlock) -> __m256 {
    todo!("week2-day6 task 2: dot")
}
