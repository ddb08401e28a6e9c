//! Day 7: attention in one pass.

use std::ops::Range;

use half::f16;

use super::{
    cache::CacheType,
    rust::{
        cache::{Cells, Run},
        kernels::{
            q8_rows::{Q8Rows, row_words},
            vector::{narrow_q8, widen_q8},
        },
        streaming::{self as rust, MAX_BLOCK_QUERIES, MAX_HEAD_DIM, MAX_QUERIES},
    },
};
use crate::prelude::*;

exports! {
    fn attend_streaming, attend_block;
    class OnlineSoftmax;
}

/// A softmax whose scores arrive in parts.
#[pyclass]
pub(crate) struct OnlineSoftmax(rust::OnlineSoftmax);

#[pymethods]
impl OnlineSoftmax {
    #[new]
    fn new() -> Self {
        Self(rust::OnlineSoftmax::default())
    }

    /// The largest score so far, or −inf before the first.
    #[getter]
    fn max(&self) -> f32 {
        self.0.max
    }

    /// The sum of `e^(score − max)`.
    #[getter]
    fn total(&self) -> f32 {
        self.0.total
    }

    /// Adds `scores [n]`. Returns their weights, and the factor by which to scale earlier sums.
    fn absorb(&mut self, scores: Floats) -> PyResult<(Floats, f32)> {
        refuse_if!(scores.0.ndim() != 1; "scores", format_args!("shape {:?}", scores.0.shape());
            "[n]");
        every("scores", &scores.0, "numbers, or −inf for what is not seen", |x| {
            x < f32::INFINITY
        })?;
        let (mut softmax, mut numbers) = (self.0, scores.to_vec());
        let (softmax, numbers, factor) = call(move || {
            let factor = softmax.absorb(&mut numbers);
            (softmax, numbers, factor)
        })?;
        self.0 = softmax;
        Ok((Floats(tensor(&[numbers.len()], numbers)), factor))
    }

    fn __repr__(&self) -> String {
        format!("OnlineSoftmax(max={}, total={})", self.0.max, self.0.total)
    }
}

/// Keys and values of a run, each `[n, D]`.
type Pair = (Floats, Floats);

/// Keys or values as a cache of some type stores them.
enum Held {
    F32(Vec<f32>),
    F16(Vec<f16>),
}

impl Held {
    fn new(numbers: &Floats, cache_type: CacheType) -> Self {
        match cache_type {
            CacheType::F32 => Self::F32(numbers.to_vec()),
            CacheType::F16 => Self::F16(numbers.0.iter().map(|&x| f16::from_f32(x)).collect()),
            // Rounds like a q8_0 cache. Only `attend` can read that cache's packed rows.
            CacheType::Q8_0 => {
                let (dim, mut rounded) = (numbers.0.shape()[1], numbers.to_vec());
                let mut words = vec![0; row_words(dim)];
                for x in rounded.chunks_exact_mut(dim) {
                    narrow_q8(x, &mut words);
                    widen_q8(Q8Rows { words: &words, dim }, x);
                }
                Self::F32(rounded)
            }
        }
    }

    fn cells(&self) -> Cells<'_> {
        match self {
            Self::F32(numbers) => Cells::F32(numbers),
            Self::F16(numbers) => Cells::F16(numbers),
        }
    }
}

/// Runs as a cache stores them: positions, keys, values.
type Runs = Vec<(Range<usize>, Held, Held)>;

/// Returns the runs as a cache stores them, from position `start` on. Checks that all numbers and
/// all possible scores are finite. A tile is weighted as a whole, so even positions that a query
/// does not see are multiplied, by weight 0.
fn held(
    q: &Floats,
    runs: &[Pair],
    start: usize,
    scale: Real,
    cache_type: CacheType,
) -> PyResult<Runs> {
    every("q", &q.0, "finite numbers", f32::is_finite)?;
    let head_dim = q.0.shape()[1];
    refuse_if!(head_dim > MAX_HEAD_DIM; "q", format_args!("heads of {head_dim} values");
        "at most {MAX_HEAD_DIM}");
    refuse_if!(runs.is_empty(); "runs", "none"; "at least one: there is nothing to see");
    let mut next = start;
    let run = |(keys, values): &Pair| {
        let mut shapes = Shapes::default();
        shapes.set("D", head_dim, "q");
        shapes.fit("keys of runs", "n D", keys)?;
        shapes.fit("values of runs", "n D", values)?;
        let largest = match cache_type {
            CacheType::F32 => f32::MAX,
            CacheType::F16 => f16::MAX.to_f32(),
            CacheType::Q8_0 => 127.0 * f16::MAX.to_f32(),
        };
        let expected = format!("finite numbers of at most {largest:e} in size, as the cache holds");
        every("keys of runs", &keys.0, &expected, |x| x.abs() <= largest)?;
        every("values of runs", &values.0, &expected, |x| x.abs() <= largest)?;
        let score = size(q) * size(keys) * head_dim as f32;
        refuse_if!(!(score * scale.0.abs().max(1.0)).is_finite();
            "q", format_args!("numbers of up to {:e}", size(q));
            "products with keys that float32 can hold");
        let Some(end) = next.checked_add(shapes.size("n")) else {
            return Err(wrong("start", start, "a position that others can follow"));
        };
        let positions = next..end;
        next = end;
        Ok((positions, Held::new(keys, cache_type), Held::new(values, cache_type)))
    };
    runs.iter().map(run).collect()
}

/// Returns the largest magnitude in `x`.
fn size(x: &Floats) -> f32 {
    x.0.iter().fold(0f32, |largest, x| largest.max(x.abs()))
}

fn views(held: &Runs) -> impl Iterator<Item = Run<'_>> {
    held.iter().map(|(positions, keys, values)| Run {
        start: positions.start,
        len: positions.len(),
        keys: keys.cells(),
        values: values.cells(),
    })
}

/// Computes attention: `q [G, D]` → `[G, D]`. A run is keys `[n, D]` and values `[n, D]`.
#[pyfunction]
#[pyo3(signature = (q, runs, scale, cache_type=CacheType::F32))]
fn attend_streaming(
    q: Floats,
    runs: Vec<Pair>,
    scale: Real,
    cache_type: CacheType,
) -> PyResult<Floats> {
    let shapes = fit!(q = "G D");
    let (heads, head_dim) = (shapes.size("G"), shapes.size("D"));
    refuse_if!(heads > MAX_QUERIES; "q", format_args!("{heads} heads"); "at most {MAX_QUERIES}");
    let held = held(&q, &runs, 0, scale, cache_type)?;
    let numbers = q.to_vec();
    compute(move || {
        let mut out = vec![f32::NAN; numbers.len()];
        rust::attend_streaming(&numbers, views(&held), head_dim, scale.0, &mut out);
        tensor(&[heads, head_dim], out)
    })
}

/// Computes attention: `q [N, D]` → `[N, D]`. Query `n` sees the positions `visible[n][0]` to
/// `visible[n][1]` − 1. The first run begins at position `start`.
#[pyfunction]
#[pyo3(
    signature = (q, visible, runs, scale, cache_type=CacheType::F32, start=Count(0)),
    text_signature = "(q, visible, runs, scale, cache_type=..., start=0)"
)]
fn attend_block(
    q: Floats,
    visible: Vec<(Count, Count)>,
    runs: Vec<Pair>,
    scale: Real,
    cache_type: CacheType,
    start: Count,
) -> PyResult<Floats> {
    let shapes = fit!(q = "N D");
    let (queries, head_dim) = (shapes.size("N"), shapes.size("D"));
    refuse_if!(queries > MAX_BLOCK_QUERIES; "q", format_args!("{queries} queries");
        "at most {MAX_BLOCK_QUERIES}");
    let held = held(&q, &runs, start.0, scale, cache_type)?;
    let (first, end) = (start.0, held.last().map_or(0, |(positions, ..)| positions.end));
    let visible: Vec<Range<usize>> = visible.iter().map(|(from, to)| from.0..to.0).collect();
    refuse_if!(visible.len() != queries; "visible", format_args!("{} pairs", visible.len());
        "{queries}, one for each query");
    let beyond = |seen: &&Range<usize>| seen.is_empty() || seen.start < first || seen.end > end;
    if let Some(seen) = visible.iter().find(beyond) {
        let found = format!("({}, {})", seen.start, seen.end);
        let expected = format!("at least one of the positions of runs, {first} to {}", end - 1);
        return Err(wrong("visible", found, expected));
    }
    let numbers = q.to_vec();
    compute(move || {
        let query = |(q, visible)| rust::Query { q, visible };
        let queries: Vec<_> = numbers.chunks_exact(head_dim).zip(visible).map(query).collect();
        let mut out = vec![f32::NAN; numbers.len()];
        rust::attend_block(&queries, views(&held), head_dim, scale.0, &mut out);
        tensor(&[queries.len(), head_dim], out)
    })
}
