//! Day 5. Rows of activations as small integers.
//!
//! Tasks here: week2-day5 task 2 (`quantize_activations`). Everything else is provided.

pub use tiny_llm_kernels::input::{BLOCK, Input, Int8SuperBlock, Prepared, SUM, SUPER_BLOCK, room};

/// Quantizes one row. Every `per_scale` activations ([`BLOCK`] or [`SUPER_BLOCK`]) share a scale,
/// `absmax / 127`; they are divided by it and rounded to the nearest integer. If all of them are 0,
/// the scale is 0. If one is NaN or infinite, the scale is NaN, and the values do not matter: every
/// product with them is NaN. `x [cols]`, `super_blocks [cols / 256, rounded up]`. Values past the
/// end of the row are 0, and so is the scale of a part that is entirely past it. A scale for 256 is
/// stored in all eight places. All of `super_blocks` is overwritten.
pub fn quantize_activations(x: &[f32], per_scale: usize, super_blocks: &mut [Int8SuperBlock]) {
    todo!("week2-day5 task 2: quantize_activations")
}
