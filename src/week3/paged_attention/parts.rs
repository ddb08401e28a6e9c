//! Day 4. A long context in parts: several threads read the parts, and the results are joined in
//! order.
//!
//! Tasks here: week3-day4 task 3 (`in_part`, `join`). Everything else is provided.

use std::ops::Range;

use crate::week2::streaming::OnlineSoftmax;

/// Number of positions in each part of a context. Parts begin at multiples of this number, whatever
/// the number of threads. So the order of every sum is fixed.
pub const PART: usize = 512;

/// Returns the positions of `visible` that are in part `i`. Each part has `part_len` positions. The
/// returned range may be empty.
#[must_use]
pub fn in_part(visible: &Range<usize>, i: usize, part_len: usize) -> Range<usize> {
    todo!("week3-day4 task 3: in_part")
}

/// Merges the states of two readers. The first reader's state is `softmax` and `sums [D]`. The
/// second reader's state is `part` and `values [D]`. Both `sums` and `values` are still to be
/// divided by their softmax's total. Writes the merged state to `softmax` and `sums`. It is the
/// state of a single reader that has read the first reader's positions, then the second reader's.
/// If one reader has read no positions, the merged state is the other reader's.
pub fn join(softmax: &mut OnlineSoftmax, sums: &mut [f32], part: OnlineSoftmax, values: &[f32]) {
    todo!("week3-day4 task 3: join")
}
