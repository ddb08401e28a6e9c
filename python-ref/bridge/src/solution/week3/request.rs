//! Day 1: what a client asks for, and a request's life.

use pyo3::{exceptions::PyValueError, prelude::*};

use super::{
    super::{rust::week1::generate as week1, week1::generate::FinishReason},
    rust::{engine::append_rows, request as rust},
};
use crate::{
    background::Kept,
    convert::{Count, Ids, Long, Octets, Real, Token},
    memory::room,
    shapes::wrong,
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
    #[pyo3(
        signature = (
            prompt, max_new_tokens, *, stop_tokens=vec![], stop_texts=vec![], temperature=Real(0.0),
            seed=Long(0)
        ),
        text_signature = "(prompt, max_new_tokens, *, stop_tokens=..., stop_texts=..., temperature=0.0, seed=0)"
    )]
    fn new(
        prompt: Ids<1>,
        max_new_tokens: Count,
        stop_tokens: Vec<Token>,
        stop_texts: Vec<Octets>,
        temperature: Real,
        seed: Long,
    ) -> PyResult<Self> {
        let Real(temperature) = temperature;
        if temperature < 0.0 {
            return Err(wrong("temperature", &temperature.to_string(), "a number from 0 on"));
        }
        let sampling = super::super::rust::week1::sampling::SamplerOptions {
            temperature,
            ..Default::default()
        };
        Ok(Self(rust::Request {
            prompt: prompt.to_vec(),
            max_new_tokens: max_new_tokens.0,
            stop_tokens: stop_tokens.into_iter().map(|token| token.0).collect(),
            stop_texts: stop_texts.into_iter().map(|text| text.0).collect(),
            sampling,
            seed: seed.0,
        }))
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
        week1::FinishReason::NotFinite => FinishReason::NotFinite,
    }
}

/// Token, position, sequence, and whether logits are wanted.
type Row = (u32, usize, usize, bool);

fn name(phase: rust::Phase) -> &'static str {
    match phase {
        rust::Phase::Waiting => "waiting",
        rust::Phase::Prefilling => "prefilling",
        rust::Phase::Decoding => "decoding",
        rust::Phase::Finished(_) => "finished",
    }
}

/// An argument, what was found and what was expected.
type Problem = (&'static str, String, String);

/// Whether a request stands where it can be asked for something.
fn stands(
    expected: &'static str,
    phases: &'static [&'static str],
) -> impl Fn(&rust::Sequence) -> Result<(), Problem> {
    move |sequence| {
        let found = name(sequence.phase);
        if phases.contains(&found) {
            return Ok(());
        }
        Err(("self", format!("one that is {found}"), expected.to_owned()))
    }
}

/// Whether a request has a place in the cache and so many tokens that have not been computed.
fn has_left(
    argument: &'static str,
    rows: usize,
) -> impl Fn(&rust::Sequence) -> Result<(), Problem> {
    move |sequence| {
        stands("a request that runs", &["prefilling", "decoding"])(sequence)?;
        let left = sequence.num_left();
        if rows <= left {
            return Ok(());
        }
        Err((argument, rows.to_string(), format!("at most {left}, which are left")))
    }
}

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
        // All of it is asked for at once.
        let prompt = request.0.prompt.len();
        let new = request.0.max_new_tokens.min(context.0.saturating_sub(prompt));
        room("max_new_tokens, as many as the context allows,", &[prompt.saturating_add(new)])?;
        Ok(Self(Kept::new(rust::Sequence::new(id.0 as u64, request.0, context.0))))
    }

    /// Gives a waiting request its place in the cache.
    fn admit(&self, py: Python<'_>, slot: Count) -> PyResult<()> {
        self.act(py, stands("a request that waits", &["waiting"]), move |sequence| {
            sequence.admit(slot.0);
        })
    }

    /// Says that the model has computed `rows` more of the tokens; returns whether the next token can
    /// be chosen now.
    fn computed(&self, py: Python<'_>, rows: Count) -> PyResult<bool> {
        self.act(py, has_left("rows", rows.0), move |sequence| sequence.computed(rows.0))
    }

    /// Takes the token that was chosen, and whether its text completes a stop text; returns whether it
    /// is part of the answer.
    fn accept(&self, py: Python<'_>, token: Token, completes_stop_text: bool) -> PyResult<bool> {
        let check = stands("a request that decodes", &["decoding"]);
        self.act(py, check, move |sequence| sequence.accept(token.0, completes_stop_text))
    }

    /// Ends a request whose client has gone.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.0.call(py, rust::Sequence::cancel)
    }

    /// The next `n` rows of it: token, position, slot, and whether logits are wanted.
    fn rows(&self, py: Python<'_>, n: Count) -> PyResult<Vec<Row>> {
        self.act(py, has_left("n", n.0), move |sequence| {
            let mut rows = Vec::new();
            append_rows(sequence, n.0, &mut rows);
            rows.iter().map(|row| (row.token, row.position, row.sequence, row.logits)).collect()
        })
    }

    /// `waiting`, `prefilling`, `decoding` or `finished`.
    fn phase(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.0.call(py, |sequence| name(sequence.phase))
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

impl Sequence {
    /// Changes the request if it passes the check.
    fn act<R: Send + 'static>(
        &self,
        py: Python<'_>,
        check: impl FnOnce(&rust::Sequence) -> Result<(), Problem> + Send + 'static,
        act: impl FnOnce(&mut rust::Sequence) -> R + Send + 'static,
    ) -> PyResult<R> {
        let done = self.0.call(py, move |sequence| check(sequence).map(|()| act(sequence)))?;
        done.map_err(|(argument, found, expected)| wrong(argument, &found, &expected))
    }
}
