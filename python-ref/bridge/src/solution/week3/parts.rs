//! Day 4: parts of a context.

use pyo3::prelude::*;

use super::{super::rust::week2::streaming::OnlineSoftmax, rust::parts as rust};
use crate::{
    background::call,
    convert::{Count, Floats, vector},
    shapes::{at_least_one, every, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(in_part, m)?)?;
    m.add_function(wrap_pyfunction!(join, m)?)
}

/// Those of the positions `start` to `end` − 1 that lie in part `i` of parts of so many positions.
#[pyfunction]
fn in_part(
    py: Python<'_>,
    start: Count,
    end: Count,
    i: Count,
    part_len: Count,
) -> PyResult<(usize, usize)> {
    at_least_one("part_len", part_len.0)?;
    let last = i.0.checked_add(1).and_then(|end| end.checked_mul(part_len.0));
    if last.is_none() || start.0 > end.0 {
        return Err(wrong("start", &start.0.to_string(), "positions that can be counted"));
    }
    let part = call(py, move || rust::in_part(&(start.0..end.0), i.0, part_len.0))?;
    Ok((part.start, part.end))
}

/// What two readers have seen, as that of one: maximum, total, and sums `[D]` of the first, then of
/// the second.
#[pyfunction]
fn join(
    py: Python<'_>,
    first: (f32, f32, Floats),
    second: (f32, f32, Floats),
) -> PyResult<(f32, f32, Floats)> {
    for (sums, name) in [(&first.2, "first"), (&second.2, "second")] {
        every(name, &sums.0, "finite numbers", f32::is_finite)?;
        if sums.0.ndim() != 1 || sums.0.len() != first.2.0.len() {
            let shape = format!("shape {:?}", sums.0.shape());
            return Err(wrong(name, &shape, "sums [D], as many in both"));
        }
    }
    for (max, total, name) in [(first.0, first.1, "first"), (second.0, second.1, "second")] {
        if max.is_nan() || max == f32::INFINITY || !total.is_finite() {
            return Err(wrong(name, &format!("({max}, {total})"), "a maximum and a total"));
        }
    }
    let (mut softmax, mut sums) =
        (OnlineSoftmax { max: first.0, total: first.1 }, first.2.to_vec());
    let (part, values) = (OnlineSoftmax { max: second.0, total: second.1 }, second.2.to_vec());
    call(py, move || {
        rust::join(&mut softmax, &mut sums, part, &values);
        (softmax.max, softmax.total, vector(&sums))
    })
}
