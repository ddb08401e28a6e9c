//! Day 1.

use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::rust::{
    attention as rust,
    cache::{Cells, Run},
};
use crate::{
    convert::{Count, Floats, Real, compute},
    shapes::{Shapes, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(attend_two_pass, m)?)
}

/// `q [G, D]`, `keys [S, D]`, `values [S, D]`, cut into runs of `lengths` positions, which add up
/// to S → `[G, D]`
#[pyfunction]
fn attend_two_pass(
    py: Python<'_>,
    q: Floats,
    keys: Floats,
    values: Floats,
    lengths: Vec<Count>,
    scale: Real,
) -> PyResult<Floats> {
    let mut shapes = Shapes::default();
    shapes.fit("q", "G D", &q)?;
    shapes.fit("keys", "S D", &keys)?;
    shapes.fit("values", "S D", &values)?;
    let (d, positions) = (shapes.size("D"), shapes.size("S"));
    let lengths: Vec<usize> = lengths.iter().map(|n| n.0).collect();
    let total = lengths.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
    if total != Some(positions) || lengths.contains(&0) {
        let expected = format!("lengths from 1 on that add up to {positions}, as in keys");
        return Err(wrong("lengths", &format!("{lengths:?}"), &expected));
    }
    let shape = q.0.shape().to_vec();
    let (q, keys, values) = (q.to_vec(), keys.to_vec(), values.to_vec());
    compute(py, move || {
        let mut start = 0;
        let run = |&len: &usize| {
            let at = start * d..(start + len) * d;
            start += len;
            let (keys, values) = (Cells::F32(&keys[at.clone()]), Cells::F32(&values[at]));
            Run { start: start - len, len, keys, values }
        };
        let runs: Vec<Run<'_>> = lengths.iter().map(run).collect();
        let mut out = vec![f32::NAN; q.len()];
        rust::attend_two_pass(&q, || runs.iter().copied(), d, scale.0, &mut out);
        tensor(&shape, out)
    })
}
