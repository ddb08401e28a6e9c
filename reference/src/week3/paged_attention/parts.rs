//! Day 4. A long context in parts: several threads read the parts, and the results are joined in
//! order.
//!
//! Tasks here: week3-day4 task 3 (`in_part`, `join`). Everything else is provided.

use std::ops::Range;

use crate::week2::streaming::OnlineSoftmax;

/// Number of positions per part. Parts begin at multiples of this number, no matter how many
/// threads there are. So the order of every sum is fixed.
pub const PART: usize = 512;

/// Returns the `visible` positions that are in part `i`, where each part has `part_len` positions.
/// The range may be empty.
#[must_use]
pub fn in_part(visible: &Range<usize>, i: usize, part_len: usize) -> Range<usize> {
    // SOLUTION week3-day4 task 3
    let (start, end) = (i * part_len, (i + 1) * part_len);
    visible.start.clamp(start, end)..visible.end.clamp(start, end)
    // END SOLUTION
}

/// Merges a second reader's state into a first reader's state. `softmax` and `sums [D]` belong to
/// the first reader, `part` and `values [D]` to the second. Neither `sums` nor `values` has been
/// divided by its total yet. The result is the state of a single reader that has read the first
/// reader's positions, then the second reader's. If one reader has seen no positions, the result is
/// the other reader's state.
pub fn join(softmax: &mut OnlineSoftmax, sums: &mut [f32], part: OnlineSoftmax, values: &[f32]) {
    // SOLUTION week3-day4 task 3
    if part.max == f32::NEG_INFINITY {
        return;
    }
    let max = softmax.max.max(part.max);
    let (before, after) = ((softmax.max - max).exp(), (part.max - max).exp());
    softmax.total = softmax.total * before + part.total * after;
    softmax.max = max;
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = *sum * before + value * after;
    }
    // END SOLUTION
}
