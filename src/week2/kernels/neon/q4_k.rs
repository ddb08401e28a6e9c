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
    todo!("week2-day6 task 5: dot")
}
