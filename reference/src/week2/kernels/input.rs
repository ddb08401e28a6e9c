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
    // SOLUTION week2-day5 task 2
    for (x, super_block) in x.chunks(SUPER_BLOCK).zip(super_blocks) {
        super_block.values[x.len()..].fill(0);
        super_block.scales.fill(0.0);
        let parts = super_block
            .values
            .chunks_mut(per_scale)
            .zip(super_block.scales.chunks_mut(per_scale / BLOCK));
        for (x, (values, scales)) in x.chunks(per_scale).zip(parts) {
            let absmax = x.iter().fold(0f32, |m, x| m.max(x.abs()));
            scales.fill(absmax / 127.0);
            // `max` ignores a NaN, and `as i8` turns it into 0. Without this check, the NaN would
            // be lost.
            if !x.iter().all(|x| x.is_finite()) {
                scales.fill(f32::NAN);
            }
            let inverse = if absmax > 0.0 { 127.0 / absmax } else { 0.0 };
            for (value, x) in values.iter_mut().zip(x) {
                *value = (x * inverse).round_ties_even() as i8;
            }
        }
        for (sum, values) in super_block.sums.iter_mut().zip(super_block.values.chunks_exact(SUM)) {
            *sum = values.iter().map(|&q| i16::from(q)).sum();
        }
    }
    // END SOLUTION
}
