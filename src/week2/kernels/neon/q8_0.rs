//! Against the integer rung: eight products an instruction, in 16 bits, where two of them fit side
//! by side before they are added up in 32.
//!
//! Tasks here: week2-day6 task 4 (`dot`). Everything else is provided.

use std::arch::aarch64::*;

use tiny_llm_kernels::neon::lanes::{half, load, load_signed};

use crate::week2::input::Int8SuperBlock;

/// The products of up to eight blocks with a super-block, with the scales of the blocks and of the
/// activations, in four lanes that are still to be added up.
///
/// Two products are at most 2 · 128 · 127, which fits i16; three do not.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn dot(blocks: &[[u8; 34]], x: &Int8SuperBlock) -> float32x4_t {
    todo!("week2-day6 task 4: dot")
}
