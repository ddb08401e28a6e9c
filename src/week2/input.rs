//! Day 5. Rows of activations as small integers.

pub use tiny_llm_kernels::input::{BLOCK, Input, Int8SuperBlock, Prepared, SUM, SUPER_BLOCK};

/// Quantizes one row: a scale for each `per_scale` activations, [`BLOCK`] or [`SUPER_BLOCK`], is
/// their `absmax / 127`; each is divided by it and rounded to the nearest. Where all are zeros the
/// scale is 0. `x [cols]`, `super_blocks [cols / 256, rounded up]`; what the last super-block has
/// more than the row is zeros, values and scales. A scale that is shared by a whole super-block is
/// written to all of its places. All of `super_blocks` is written, whatever it held.
pub fn quantize_activations(x: &[f32], per_scale: usize, super_blocks: &mut [Int8SuperBlock]) {
    todo!("week2-day5 task 2: quantize_activations")
}
