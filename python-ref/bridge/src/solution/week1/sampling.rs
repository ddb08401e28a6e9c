//! Day 7. What Rust changes in place is returned here.

use pyo3::prelude::*;

use super::rust::sampling as rust;
use crate::{
    convert::{Ids, Vector, vector},
    panics::call,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(apply_temperature, m)?)?;
    m.add_function(wrap_pyfunction!(top_k, m)?)?;
    m.add_function(wrap_pyfunction!(top_p, m)?)?;
    m.add_function(wrap_pyfunction!(min_p, m)?)?;
    m.add_function(wrap_pyfunction!(repetition_penalty, m)?)?;
    m.add_class::<Rng>()?;
    m.add_function(wrap_pyfunction!(draw, m)?)?;
    m.add_class::<SamplerOptions>()?;
    m.add_class::<Sampler>()
}

fn shaped(
    py: Python<'_>,
    logits: Vector,
    shape: impl FnOnce(&mut [f32]) + Send,
) -> PyResult<Vector> {
    let mut logits = logits.to_vec();
    call(py, || shape(&mut logits))?;
    Ok(vector(&logits))
}

#[pyfunction]
fn apply_temperature(py: Python<'_>, logits: Vector, temperature: f32) -> PyResult<Vector> {
    shaped(py, logits, |logits| rust::apply_temperature(logits, temperature))
}

#[pyfunction]
fn top_k(py: Python<'_>, logits: Vector, k: usize) -> PyResult<Vector> {
    shaped(py, logits, |logits| rust::top_k(logits, k))
}

#[pyfunction]
fn top_p(py: Python<'_>, logits: Vector, p: f32) -> PyResult<Vector> {
    shaped(py, logits, |logits| rust::top_p(logits, p))
}

#[pyfunction]
fn min_p(py: Python<'_>, logits: Vector, p: f32) -> PyResult<Vector> {
    shaped(py, logits, |logits| rust::min_p(logits, p))
}

#[pyfunction]
fn repetition_penalty(
    py: Python<'_>,
    logits: Vector,
    seen: Ids<1, 1>,
    penalty: f32,
) -> PyResult<Vector> {
    shaped(py, logits, |logits| rust::repetition_penalty(logits, &seen.to_vec(), penalty))
}

#[pyclass(from_py_object)]
#[derive(Clone)]
pub(crate) struct Rng(pub rust::Rng);

#[pymethods]
impl Rng {
    #[new]
    pub(crate) fn new(py: Python<'_>, seed: u64) -> PyResult<Self> {
        call(py, || rust::Rng::new(seed)).map(Self)
    }

    fn next_u64(&mut self, py: Python<'_>) -> PyResult<u64> {
        call(py, || self.0.next_u64())
    }

    fn uniform(&mut self, py: Python<'_>) -> PyResult<f64> {
        call(py, || self.0.uniform())
    }
}

#[pyfunction]
fn draw(py: Python<'_>, logits: Vector, uniform: f64) -> PyResult<u32> {
    call(py, || rust::draw(&logits.to_vec(), uniform))
}

#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct SamplerOptions {
    temperature: f32,
    top_k: usize,
    top_p: f32,
    min_p: f32,
    repetition_penalty: f32,
}

impl SamplerOptions {
    pub(crate) fn to_rust(&self) -> rust::SamplerOptions {
        let Self { temperature, top_k, top_p, min_p, repetition_penalty } = *self;
        rust::SamplerOptions { temperature, top_k, top_p, min_p, repetition_penalty }
    }
}

#[pymethods]
impl SamplerOptions {
    #[new]
    #[pyo3(signature = (*, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.0))]
    pub(crate) fn new(
        temperature: f32,
        top_k: usize,
        top_p: f32,
        min_p: f32,
        repetition_penalty: f32,
    ) -> Self {
        Self { temperature, top_k, top_p, min_p, repetition_penalty }
    }
}

#[pyclass]
pub(crate) struct Sampler(rust::Sampler);

#[pymethods]
impl Sampler {
    /// The generator is copied: the sampler's draws leave `rng` as it is.
    #[new]
    fn new(options: SamplerOptions, rng: Rng) -> Self {
        Self(rust::Sampler { options: options.to_rust(), rng: rng.0 })
    }

    fn choose(&mut self, py: Python<'_>, logits: Vector, seen: Ids<1, 1>) -> PyResult<u32> {
        call(py, || self.0.choose(&logits.to_vec(), &seen.to_vec()))
    }
}
