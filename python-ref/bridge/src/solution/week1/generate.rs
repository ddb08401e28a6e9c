//! Day 6.

use std::{collections::HashSet, ops::ControlFlow};

use pyo3::prelude::*;

use super::{model::Model, rust::generate as rust};
use crate::{
    convert::{Ids, Vector, vector},
    panics::{call, catch, unwrap_or_unwind, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(argmax, m)?)?;
    m.add_function(wrap_pyfunction!(next_token_logits, m)?)?;
    m.add_class::<Limits>()?;
    m.add_class::<FinishReason>()?;
    m.add_function(wrap_pyfunction!(generate, m)?)
}

#[pyfunction]
fn argmax(py: Python<'_>, logits: Vector) -> PyResult<u32> {
    call(py, || rust::argmax(&logits.to_vec()))
}

#[pyfunction]
fn next_token_logits(py: Python<'_>, model: Model, tokens: Ids<1, 1>) -> PyResult<Vector> {
    let tokens = tokens.to_vec();
    call(py, || model.0.check(&tokens))?.map_err(value_error)?;
    call(py, || rust::next_token_logits(&model.0, &tokens)).map(|logits| vector(&logits))
}

#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct Limits {
    max_new_tokens: usize,
    context: usize,
    stop_tokens: HashSet<u32>,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (max_new_tokens, context, stop_tokens=HashSet::new()))]
    fn new(max_new_tokens: usize, context: usize, stop_tokens: HashSet<u32>) -> Self {
        Self { max_new_tokens, context, stop_tokens }
    }
}

#[pyclass(frozen, eq, eq_int, hash)]
#[derive(Clone, PartialEq, Hash)]
pub(crate) enum FinishReason {
    Stop,
    Length,
    ContextFull,
    Interrupted,
}

impl From<rust::FinishReason> for FinishReason {
    fn from(reason: rust::FinishReason) -> Self {
        match reason {
            rust::FinishReason::Stop => Self::Stop,
            rust::FinishReason::Length => Self::Length,
            rust::FinishReason::ContextFull => Self::ContextFull,
            rust::FinishReason::Interrupted => Self::Interrupted,
        }
    }
}

/// The three callbacks are Python functions: `next_logits(tokens) -> array`,
/// `choose(logits, tokens) -> int` and `on_token(token)`, which ends the generation by returning
/// True.
#[pyfunction]
fn generate(
    next_logits: Bound<'_, PyAny>,
    prompt: Ids<1, 1>,
    limits: Limits,
    choose: Bound<'_, PyAny>,
    on_token: Bound<'_, PyAny>,
) -> PyResult<FinishReason> {
    let Limits { max_new_tokens, context, stop_tokens } = limits;
    let limits = rust::Limits { max_new_tokens, context, stop_tokens };
    let next_logits = |tokens: &[u32]| -> PyResult<Vec<f32>> {
        Ok(next_logits.call1((tokens.to_vec(),))?.extract::<Vector>()?.to_vec())
    };
    let choose = |logits: &[f32], tokens: &[u32]| -> PyResult<u32> {
        choose.call1((vector(logits), tokens.to_vec()))?.extract()
    };
    let on_token = |token: u32| -> PyResult<bool> { on_token.call1((token,))?.is_truthy() };
    let reason = catch(|| {
        rust::generate(
            |tokens| unwrap_or_unwind(next_logits(tokens)),
            &prompt.to_vec(),
            &limits,
            |logits, tokens| unwrap_or_unwind(choose(logits, tokens)),
            |token| {
                if unwrap_or_unwind(on_token(token)) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        )
    })?;
    reason.map(FinishReason::from).map_err(value_error)
}
