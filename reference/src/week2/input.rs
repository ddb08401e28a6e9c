//! Day 5. Rows of activations as small integers.

pub use tiny_llm_kernels::input::{BLOCK, GROUP, Input, Int8Group, Prepared, SUM};

/// Quantizes one row: a scale for each `per_scale` activations, [`BLOCK`] or [`GROUP`], is their
/// `absmax / 127`; each is divided by it and rounded to the nearest. Where all are zeros the scale
/// is 0. `x [cols]`, `groups [cols / 256, rounded up]`; what the last group has more than the row
/// is zeros, values and scales. A scale that is shared by a whole group is written to all of its
/// places. All of `groups` is written, whatever it held.
pub fn quantize_activations(x: &[f32], per_scale: usize, groups: &mut [Int8Group]) {
    // SOLUTION week2-day5 task 2
    for (x, group) in x.chunks(GROUP).zip(groups) {
        group.values[x.len()..].fill(0);
        group.scales.fill(0.0);
        let parts =
            group.values.chunks_mut(per_scale).zip(group.scales.chunks_mut(per_scale / BLOCK));
        for (x, (values, scales)) in x.chunks(per_scale).zip(parts) {
            let absmax = x.iter().fold(0f32, |m, x| m.max(x.abs()));
            scales.fill(absmax / 127.0);
            let inverse = if absmax > 0.0 { 127.0 / absmax } else { 0.0 };
            for (value, x) in values.iter_mut().zip(x) {
                *value = (x * inverse).round_ties_even() as i8;
            }
        }
        for (sum, values) in group.sums.iter_mut().zip(group.values.chunks_exact(SUM)) {
            *sum = values.iter().map(|&q| i16::from(q)).sum();
        }
    }
    // END SOLUTION
}
