//! Day 5. Quantizes rows of activations to 8-bit integers.
//!
//! Tasks here: week2-day5 task 2 (`quantize_activations`). Everything else is provided.

pub use tiny_llm_kernels::input::{BLOCK, Input, Int8SuperBlock, Prepared, SUM, SUPER_BLOCK, room};

/// Quantizes `x`, one row of activations. Overwrites all of `super_blocks`, including their `sums`.
///
/// Shapes: `x [cols]`, `super_blocks [cols / 256, rounded up]`. `per_scale` is [`BLOCK`] or
/// [`SUPER_BLOCK`]. Every `per_scale` consecutive activations share a scale: their largest
/// magnitude divided by 127. Each activation is divided by its scale and rounded to the nearest
/// integer.
///
/// - If all activations that share a scale are 0, the scale is 0.
/// - If an activation is NaN or infinite, its scale is NaN. The integers that share this scale
///   don't matter then, because every product with them is NaN.
/// - Values past the end of the row are 0. A scale that covers only such values is 0 too.
/// - A scale for 256 activations is stored in all eight elements of `scales`.
pub fn quantize_activations(x: &[f32], per_scale: usize, super_blocks: &mut [Int8SuperBlock]) {
    todo!("week2-day5 task 2: quantize_activations")
}
