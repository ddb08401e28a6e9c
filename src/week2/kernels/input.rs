//! Day 5. Rows of activations as small integers.
//!
//! Tasks here: week2-day5 task 2 (`quantize_activations`). Everything else is provided.

pub use tiny_llm_kernels::input::{BLOCK, Input, Int8SuperBlock, Prepared, SUM, SUPER_BLOCK, room};

/// Quantizes one row: each `per_scale` activations ([`BLOCK`] or [`SUPER_BLOCK`]) share a scale,
/// `absmax / 127`; they are divided by it and rounded to the nearest. Where all are zeros the scale
/// is 0. Where one is NaN or infinite the scale is NaN, and the values do not matter: every product
/// with them is NaN. `x [cols]`, `super_blocks [cols / 256, rounded up]`. Values beyond the end of the row are
/// 0, and so is the scale of a part that lies beyond it entirely. A scale for 256 stands in all
/// eight places. All of `super_blocks` is written, whatever it held.
pub fn quantize_activations(x: &[f32], per_scale: usize, super_blocks: &mut [Int8SuperBlock]) {
    todo!("week2-day5 task 2: quantize_activations")
}
