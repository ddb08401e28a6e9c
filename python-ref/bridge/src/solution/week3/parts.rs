//! Day 4: parts of a context.

use super::{super::rust::week2::streaming::OnlineSoftmax, rust::parts as rust};
use crate::prelude::*;

exports! { fn in_part, join; }

/// Returns the start and end of the positions in part `i` that are also in `start` to `end` − 1.
#[pyfunction]
fn in_part(start: Count, end: Count, i: Count, part_len: Count) -> PyResult<(usize, usize)> {
    at_least_one("part_len", part_len.0)?;
    let last = i.0.checked_add(1).and_then(|end| end.checked_mul(part_len.0));
    refuse_if!(last.is_none() || start.0 > end.0; "start", start.0;
        "positions that can be counted");
    let part = call(move || rust::in_part(&(start.0..end.0), i.0, part_len.0))?;
    Ok((part.start, part.end))
}

/// Merges the softmax states of two readers of one query. A state is a maximum, a total and sums
/// `[D]`.
#[pyfunction]
fn join(
    first: (Lowest, Real, Floats),
    second: (Lowest, Real, Floats),
) -> PyResult<(f32, f32, Floats)> {
    for (sums, name) in [(&first.2, "first"), (&second.2, "second")] {
        every(name, &sums.0, "finite numbers", f32::is_finite)?;
        refuse_if!(sums.0.ndim() != 1 || sums.0.len() != first.2.0.len();
            name, format_args!("shape {:?}", sums.0.shape()); "sums [D] of equal lengths");
    }
    let softmax = |max: Lowest, total: Real| OnlineSoftmax { max: max.0, total: total.0 };
    let (mut sums, values) = (first.2.to_vec(), second.2.to_vec());
    let (mut softmax, part) = (softmax(first.0, first.1), softmax(second.0, second.1));
    call(move || {
        rust::join(&mut softmax, &mut sums, part, &values);
        (softmax.max, softmax.total, vector(&sums))
    })
}
