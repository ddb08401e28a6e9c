//! Day 1: requests and their phases.

use super::{
    super::{rust::week1::sampling::SamplerOptions, week1::generate::FinishReason},
    rust::{engine::append_rows, request as rust},
};
use crate::prelude::*;

exports! { class Request, Sequence; }

/// A client's request. Decoding is greedy unless `temperature` is above 0.
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
        refuse_if!(temperature < 0.0; "temperature", temperature; "a number from 0 on");
        let sampling = SamplerOptions { temperature, ..Default::default() };
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

/// A row: token, position, slot, and whether it requests logits.
type Row = (u32, usize, usize, bool);

fn name(phase: rust::Phase) -> &'static str {
    match phase {
        rust::Phase::Waiting => "waiting",
        rust::Phase::Prefilling => "prefilling",
        rust::Phase::Decoding => "decoding",
        rust::Phase::Finished(_) => "finished",
    }
}

/// A failed check: the argument, what was found and what was expected.
type Problem = (&'static str, String, String);

/// Returns a check that a request is in one of `phases`. The check's error contains `expected`.
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

/// Returns a check that a request runs and has at least `rows` tokens left to compute.
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
        // Memory for all tokens is allocated at once.
        let prompt = request.0.prompt.len();
        let new = request.0.max_new_tokens.min(context.0.saturating_sub(prompt));
        room("max_new_tokens, as many as the context allows,", &[prompt.saturating_add(new)])?;
        Ok(Self(Kept::new(rust::Sequence::new(id.0 as u64, request.0, context.0))))
    }

    /// Assigns a batch slot to a waiting request.
    fn admit(&self, slot: Count) -> PyResult<()> {
        self.act(stands("a request that waits", &["waiting"]), move |sequence| {
            sequence.admit(slot.0);
        })
    }

    /// Records that the model has computed `rows` more tokens. Returns whether the next token can
    /// be chosen.
    fn computed(&self, rows: Count) -> PyResult<bool> {
        self.act(has_left("rows", rows.0), move |sequence| sequence.computed(rows.0))
    }

    /// Appends the chosen token, unless it is a stop token, and returns whether it was appended.
    /// `completes_stop_text` says whether the token's text completes a stop text.
    fn accept(&self, token: Token, completes_stop_text: bool) -> PyResult<bool> {
        let check = stands("a request that decodes", &["decoding"]);
        self.act(check, move |sequence| sequence.accept(token.0, completes_stop_text))
    }

    /// Ends a request whose client has disconnected.
    fn cancel(&self) -> PyResult<()> {
        self.0.call(rust::Sequence::cancel)
    }

    /// Returns the next `n` rows: token, position, slot, and whether the row requests logits.
    fn rows(&self, n: Count) -> PyResult<Vec<Row>> {
        self.act(has_left("n", n.0), move |sequence| {
            let mut rows = Vec::new();
            append_rows(sequence, n.0, &mut rows);
            rows.iter().map(|row| (row.token, row.position, row.sequence, row.logits)).collect()
        })
    }

    /// Returns `waiting`, `prefilling`, `decoding` or `finished`.
    fn phase(&self) -> PyResult<&'static str> {
        self.0.call(|sequence| name(sequence.phase))
    }

    /// Returns why the request ended, or None if it hasn't.
    fn finished(&self) -> PyResult<Option<FinishReason>> {
        self.0.call(|sequence| sequence.finished().map(FinishReason::from))
    }

    /// Returns the tokens of the prompt and the answer.
    fn tokens(&self) -> PyResult<Vec<u32>> {
        self.0.call(|sequence| sequence.tokens.clone())
    }

    /// Returns how many of the tokens have been computed.
    fn num_computed(&self) -> PyResult<usize> {
        self.0.call(|sequence| sequence.num_computed)
    }

    fn __repr__(&self) -> &'static str {
        "Sequence(...)"
    }
}

impl Sequence {
    /// Calls `act` with the request if the request passes `check`.
    fn act<R: Send + 'static>(
        &self,
        check: impl FnOnce(&rust::Sequence) -> Result<(), Problem> + Send + 'static,
        act: impl FnOnce(&mut rust::Sequence) -> R + Send + 'static,
    ) -> PyResult<R> {
        let done = self.0.call(move |sequence| check(sequence).map(|()| act(sequence)))?;
        done.map_err(|(argument, found, expected)| wrong(argument, found, expected))
    }
}
