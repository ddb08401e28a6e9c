//! Day 5. Rows of activations as small integers.

pub use tiny_llm_kernels::input::{BLOCK, GROUP, Input, Int8Group, Prepared, SUM};

/// Quantizes one row: a scale for each `per_scale` activations, [`BLOCK`] or [`GROUP`], is their
/// `absmax / 127`; each is divided by it and rounded to the nearest. Where all are zeros the scale
/// is 0. `x [cols]`, `groups [cols / 256, rounded up]`; what the last group has more than the row
/// is zeros, values and scales. A scale that is shared by a whole group is written to all of its
/// places. All of `groups` is written, whatever it held.
pub fn quantize_activations(x: &[f32], per_scale: usize, groups: &mut [Int8Group]) {
    todo!("week2-day5 task 2: quantize_activations")
}
