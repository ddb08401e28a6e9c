//! Day 4. A long context in parts: several threads read the parts, and the results are joined in
//! order.
//!
//! Tasks here: week3-day4 task 3 (`in_part`, `join`). Everything else is provided.

use std::ops::Range;

use crate::week2::streaming::OnlineSoftmax;

/// Number of positions in each part of a context. Parts begin at multiples of this number, however
/// many threads there are. So the order of every sum is fixed.
pub const PART: usize = 512;

/// Returns the positions of `visible` that are in part `i`, if each part has `part_len` positions.
/// The returned range may be empty.
#[must_use]
pub fn in_part(visible: &Range<usize>, i: usize, part_len: usize) -> Range<usize> {
    todo!("week3-day4 task 3: in_part")
}

/// Merges the state of a second reader into the state of a first reader. The first reader's state
/// is `softmax` and `sums [D]`, the second's is `part` and `values [D]`. `sums` and `values` have
/// not been divided by their reader's total yet. The merged state is that of a single reader that
/// has read the first reader's positions, then the second's. If one of the readers has read no
/// positions, the merged state is the other reader's.
pub fn join(softmax: &mut OnlineSoftmax, sums: &mut [f32], part: OnlineSoftmax, values: &[f32]) {
    todo!("week3-day4 task 3: join")
}
