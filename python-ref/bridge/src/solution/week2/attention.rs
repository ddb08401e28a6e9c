//! Day 1.

use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::rust::{
    attention as rust,
    cache::{Cells, Run},
};
use crate::convert::{Any, Matrix, compute};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(attend_two_pass, m)?)
}

/// `q [G, D]`, `keys [S, D]`, `values [S, D]`, cut into runs of `lengths` positions, which add up
/// to S.
#[pyfunction]
fn attend_two_pass(
    py: Python<'_>,
    q: Matrix,
    keys: Matrix,
    values: Matrix,
    lengths: Vec<usize>,
    scale: f32,
) -> PyResult<Any> {
    let shape = q.0.shape().to_vec();
    let d = shape[1];
    let (q, keys, values) = (q.to_vec(), keys.to_vec(), values.to_vec());
    compute(py, || {
        let mut start = 0;
        let run = |&len: &usize| {
            let at = start * d..(start + len) * d;
            start += len;
            let (keys, values) = (Cells::F32(&keys[at.clone()]), Cells::F32(&values[at]));
            Run { start: start - len, len, keys, values }
        };
        let runs: Vec<Run<'_>> = lengths.iter().map(run).collect();
        let mut out = vec![f32::NAN; q.len()];
        rust::attend_two_pass(&q, || runs.iter().copied(), d, scale, &mut out);
        tensor(&shape, out)
    })
}
