//! Day 1.

use super::rust::{
    attention as rust,
    cache::{Cells, Run},
};
use crate::prelude::*;

exports! { fn attend_two_pass; }

/// Computes attention: `q [G, D]`, `keys [S, D]`, `values [S, D]` → `[G, D]`. Keys and values are
/// split into runs. `lengths` holds the number of positions in each run, `S` in total.
#[pyfunction]
fn attend_two_pass(
    q: Floats,
    keys: Floats,
    values: Floats,
    lengths: Vec<Count>,
    scale: Real,
) -> PyResult<Floats> {
    let shapes = fit!(q = "G D", keys = "S D", values = "S D");
    let (d, positions) = (shapes.size("D"), shapes.size("S"));
    let lengths: Vec<usize> = lengths.iter().map(|n| n.0).collect();
    let total = lengths.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
    refuse_if!(total != Some(positions) || lengths.contains(&0);
        "lengths", format_args!("{lengths:?}");
        "lengths from 1 on that add up to {positions}, as in keys");
    let shape = q.0.shape().to_vec();
    let (q, keys, values) = (q.to_vec(), keys.to_vec(), values.to_vec());
    compute(move || {
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
