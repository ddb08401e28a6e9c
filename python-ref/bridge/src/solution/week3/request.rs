//! Day 1: what a client asks for, and a request's life.

use pyo3::{exceptions::PyValueError, prelude::*};

use super::{
    super::{rust::week1::generate as week1, week1::generate::FinishReason},
    rust::{engine::append_rows, request as rust},
};
use crate::{
    background::Kept,
    convert::{Count, Ids},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Request>()?;
    m.add_class::<Sequence>()
}

/// What a client asks for: greedy unless `temperature` is above 0.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Request(pub rust::Request);

#[pymethods]
impl Request {
    #[new]
    #[pyo3(signature = (
        prompt, max_new_tokens, *, stop_tokens=vec![], stop_texts=vec![], temperature=0.0, seed=0
    ))]
    fn new(
        prompt: Ids<1>,
        max_new_tokens: Count,
        stop_tokens: Vec<u32>,
        stop_texts: Vec<Vec<u8>>,
        temperature: f32,
        seed: u64,
    ) -> Self {
        let sampling = super::super::rust::week1::sampling::SamplerOptions {
            temperature,
            ..Default::default()
        };
        Self(rust::Request {
            prompt: prompt.to_vec(),
            max_new_tokens: max_new_tokens.0,
            stop_tokens,
            stop_texts,
            sampling,
            seed,
        })
    }

    fn __repr__(&self) -> String {
        let rust::Request { prompt, max_new_tokens, .. } = &self.0;
        format!("Request(prompt={prompt:?}, max_new_tokens={max_new_tokens})")
    }
}

/// The reason in Python.
pub(super) fn reason(reason: week1::FinishReason) -> FinishReason {
    match reason {
        week1::FinishReason::Stop => FinishReason::Stop,
        week1::FinishReason::Length => FinishReason::Length,
        week1::FinishReason::ContextFull => FinishReason::ContextFull,
        week1::FinishReason::Interrupted => FinishReason::Interrupted,
    }
}

/// Token, position, sequence, and whether logits are wanted.
type Row = (u32, usize, usize, bool);

/// A request in the engine.
#[pyclass]
pub(crate) struct Sequence(Kept<rust::Sequence>);

#[pymethods]
impl Sequence {
    #[new]
    fn new(id: Count, request: Request, context: Count) -> PyResult<Self> {
        if request.0.prompt.is_empty() {
            return Err(PyValueError::new_err("request: found no prompt, expected a token"));
        }
        Ok(Self(Kept::new(rust::Sequence::new(id.0 as u64, request.0, context.0))))
    }

    /// Gives a waiting request its place in the cache.
    fn admit(&mut self, py: Python<'_>, slot: Count) -> PyResult<()> {
        self.0.call(py, move |sequence| sequence.admit(slot.0))
    }

    /// Says that the model has computed `rows` more of the tokens; returns whether the next token can
    /// be chosen now.
    fn computed(&mut self, py: Python<'_>, rows: Count) -> PyResult<bool> {
        self.0.call(py, move |sequence| sequence.computed(rows.0))
    }

    /// Takes the token that was chosen, and whether its text completes a stop text; returns whether it
    /// is part of the answer.
    fn accept(&mut self, py: Python<'_>, token: u32, completes_stop_text: bool) -> PyResult<bool> {
        self.0.call(py, move |sequence| sequence.accept(token, completes_stop_text))
    }

    /// Ends a request whose client has gone.
    fn cancel(&mut self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, rust::Sequence::cancel)
    }

    /// The next `n` rows of it: token, position, slot, and whether logits are wanted.
    fn rows(&self, py: Python<'_>, n: Count) -> PyResult<Vec<Row>> {
        self.0.call(py, move |sequence| {
            let mut rows = Vec::new();
            append_rows(sequence, n.0, &mut rows);
            rows.iter().map(|row| (row.token, row.position, row.sequence, row.logits)).collect()
        })
    }

    /// `waiting`, `prefilling`, `decoding` or `finished`.
    fn phase(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.0.call(py, |sequence| match sequence.phase {
            rust::Phase::Waiting => "waiting",
            rust::Phase::Prefilling => "prefilling",
            rust::Phase::Decoding => "decoding",
            rust::Phase::Finished(_) => "finished",
        })
    }

    /// Why it ended, if it did.
    fn finished(&self, py: Python<'_>) -> PyResult<Option<FinishReason>> {
        self.0.call(py, |sequence| sequence.finished().map(reason))
    }

    /// Prompt and answer.
    fn tokens(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.0.call(py, |sequence| sequence.tokens.clone())
    }

    /// How many of the tokens have been computed.
    fn num_computed(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.call(py, |sequence| sequence.num_computed)
    }

    fn __repr__(&self) -> &'static str {
        "Sequence(...)"
    }
}
