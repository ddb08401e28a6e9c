//! Day 7: attention in one pass.

use std::ops::Range;

use half::f16;
use pyo3::prelude::*;
use tiny_llm_formats::tensor::tensor;

use super::{
    cache::CacheType,
    rust::{
        cache::{Cells, Run},
        streaming as rust,
    },
};
use crate::{
    convert::{Any, Floats, Matrix, Vector, compute},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<OnlineSoftmax>()?;
    m.add_function(wrap_pyfunction!(attend_streaming, m)?)?;
    m.add_function(wrap_pyfunction!(attend_block, m)?)
}

#[pyclass]
pub(crate) struct OnlineSoftmax(rust::OnlineSoftmax);

#[pymethods]
impl OnlineSoftmax {
    #[new]
    fn new() -> Self {
        Self(rust::OnlineSoftmax::default())
    }

    #[getter]
    fn max(&self) -> f32 {
        self.0.max
    }

    #[getter]
    fn total(&self) -> f32 {
        self.0.total
    }

    /// The weights that `scores [n]` become, and the factor for what was weighted before.
    fn absorb(&mut self, py: Python<'_>, scores: Vector) -> PyResult<(Any, f32)> {
        let mut scores = scores.to_vec();
        let factor = call(py, || self.0.absorb(&mut scores))?;
        Ok((Floats(tensor(&[scores.len()], scores)), factor))
    }
}

/// Keys and values of a run, each `[n, D]`.
type Pair = (Matrix, Matrix);

/// What a cache of some type holds of them.
enum Held {
    F32(Vec<f32>),
    F16(Vec<f16>),
}

impl Held {
    fn new(numbers: &Matrix, cache_type: CacheType) -> Self {
        match cache_type {
            CacheType::F32 => Self::F32(numbers.to_vec()),
            CacheType::F16 => Self::F16(numbers.0.iter().map(|&x| f16::from_f32(x)).collect()),
        }
    }

    fn cells(&self) -> Cells<'_> {
        match self {
            Self::F32(numbers) => Cells::F32(numbers),
            Self::F16(numbers) => Cells::F16(numbers),
        }
    }
}

/// The positions of a run, its keys and its values.
type HeldRun = (Range<usize>, Held, Held);

/// The first run begins at position `start`.
fn held(runs: &[Pair], start: usize, cache_type: CacheType) -> Vec<HeldRun> {
    let mut next = start;
    let run = |(keys, values): &Pair| {
        let start = next;
        next += keys.0.shape()[0];
        (start..next, Held::new(keys, cache_type), Held::new(values, cache_type))
    };
    runs.iter().map(run).collect()
}

fn views(held: &[HeldRun]) -> impl Iterator<Item = Run<'_>> {
    held.iter().map(|(positions, keys, values)| Run {
        start: positions.start,
        len: positions.len(),
        keys: keys.cells(),
        values: values.cells(),
    })
}

/// `q [G, D]`; a run is keys `[n, D]` and values `[n, D]`.
#[pyfunction]
#[pyo3(signature = (q, runs, scale, cache_type=CacheType::F32))]
fn attend_streaming(
    py: Python<'_>,
    q: Matrix,
    runs: Vec<Pair>,
    scale: f32,
    cache_type: CacheType,
) -> PyResult<Any> {
    let (numbers, held) = (q.to_vec(), held(&runs, 0, cache_type));
    compute(py, || {
        let mut out = vec![f32::NAN; numbers.len()];
        rust::attend_streaming(&numbers, views(&held), q.0.shape()[1], scale, &mut out);
        tensor(q.0.shape(), out)
    })
}

/// `q [N, D]`, of which query `n` sees positions `visible[n][0]` to `visible[n][1]` - 1; the first run
/// begins at position `start`.
#[pyfunction]
#[pyo3(signature = (q, visible, runs, scale, cache_type=CacheType::F32, start=0))]
fn attend_block(
    py: Python<'_>,
    q: Matrix,
    visible: Vec<(usize, usize)>,
    runs: Vec<Pair>,
    scale: f32,
    cache_type: CacheType,
    start: usize,
) -> PyResult<Any> {
    let (numbers, held) = (q.to_vec(), held(&runs, start, cache_type));
    let head_dim = q.0.shape()[1];
    compute(py, || {
        let query = |(q, (start, end))| rust::Query { q, visible: start..end };
        let queries: Vec<_> = numbers.chunks_exact(head_dim).zip(visible).map(query).collect();
        let mut out = vec![f32::NAN; numbers.len()];
        rust::attend_block(&queries, views(&held), head_dim, scale, &mut out);
        tensor(q.0.shape(), out)
    })
}
