//! Day 6.

use std::{collections::HashSet, ops::ControlFlow};

use super::{model::Model, rust::generate as rust};
use crate::prelude::*;

exports! {
    fn argmax, next_token_logits, generate;
    class Limits;
    choice FinishReason;
}

/// Returns the index of the largest of `logits [V]`. Of equal logits, returns the first.
#[pyfunction]
fn argmax(logits: Floats) -> PyResult<u32> {
    fit!(logits = "V");
    every("logits", &logits.0, "numbers", |x| !x.is_nan())?;
    call(move || rust::argmax(&logits.to_vec()))
}

/// Returns the logits `[V]` of the token that follows `tokens [L]`.
#[pyfunction]
fn next_token_logits(model: Model, tokens: Ids<1>) -> PyResult<Floats> {
    let tokens = tokens.to_vec();
    model.check(1, &tokens)?;
    call(move || rust::next_token_logits(&model.0, &tokens)).map(|logits| vector(&logits))
}

/// The limits that end a generation.
#[pyclass(frozen, get_all, from_py_object)]
#[derive(Clone)]
pub(crate) struct Limits {
    /// Maximum number of new tokens.
    max_new_tokens: usize,
    /// Maximum number of tokens, including the prompt.
    context: usize,
    /// Tokens that end the text and are not part of it.
    stop_tokens: HashSet<u32>,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (max_new_tokens, context, stop_tokens=Tokens::default()))]
    fn new(max_new_tokens: Count, context: Count, stop_tokens: Tokens) -> Self {
        Self { max_new_tokens: max_new_tokens.0, context: context.0, stop_tokens: stop_tokens.0 }
    }

    fn __repr__(&self) -> String {
        let mut stop_tokens: Vec<_> = self.stop_tokens.iter().collect();
        stop_tokens.sort_unstable();
        let (new, context) = (self.max_new_tokens, self.context);
        format!("Limits(max_new_tokens={new}, context={context}, stop_tokens={stop_tokens:?})")
    }
}

/// A set of tokens.
#[derive(Default)]
struct Tokens(HashSet<u32>);

impl FromPyObject<'_, '_> for Tokens {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let set: HashSet<Token> = object.extract()?;
        Ok(Self(set.into_iter().map(|token| token.0).collect()))
    }
}

choice! {
    /// Why a generation ended.
    FinishReason = rust::FinishReason {
        Stop = "stop",
        Length = "length",
        ContextFull = "context full",
        Interrupted = "interrupted",
        NotFinite = "not finite",
    }
}

/// A call from `generate` to a Python function.
enum Question {
    NextLogits(Vec<u32>),
    Choose(Vec<f32>, Vec<u32>),
    OnToken(u32),
}

enum Answer {
    Logits(Vec<f32>),
    Token(u32),
    End(bool),
}

/// Continues `prompt` with the tokens that `choose(logits, tokens)` picks, where the logits are
/// those of `next_logits(tokens)`. The generation ends if `on_token(token)` returns a true value.
#[pyfunction]
fn generate(
    next_logits: Bound<'_, PyAny>,
    prompt: Ids<1>,
    limits: Limits,
    choose: Bound<'_, PyAny>,
    on_token: Bound<'_, PyAny>,
) -> PyResult<FinishReason> {
    let Limits { max_new_tokens, context, stop_tokens } = limits;
    let limits = rust::Limits { max_new_tokens, context, stop_tokens };
    let prompt = prompt.to_vec();
    let work = move |ask: &mut dyn FnMut(Question) -> Answer| {
        let ask = std::cell::RefCell::new(ask);
        rust::generate(
            |tokens| match (ask.borrow_mut())(Question::NextLogits(tokens.to_vec())) {
                Answer::Logits(logits) => logits,
                _ => unreachable!("each question has its answer"),
            },
            &prompt,
            &limits,
            |logits, tokens| match (ask.borrow_mut())(Question::Choose(
                logits.to_vec(),
                tokens.to_vec(),
            )) {
                Answer::Token(token) => token,
                _ => unreachable!("each question has its answer"),
            },
            |token| match (ask.borrow_mut())(Question::OnToken(token)) {
                Answer::End(true) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            },
        )
    };
    let answer = |question| match question {
        Question::NextLogits(tokens) => {
            let logits: Floats = next_logits.call1((tokens,))?.extract()?;
            Shapes::default().fit("what next_logits returns", "V", &logits)?;
            Ok(Answer::Logits(logits.to_vec()))
        }
        Question::Choose(logits, tokens) => {
            let token = chosen(&choose, &logits, tokens)?;
            Ok(Answer::Token(token))
        }
        Question::OnToken(token) => Ok(Answer::End(on_token.call1((token,))?.is_truthy()?)),
    };
    let reason = converse(work, answer)?;
    reason.map(FinishReason::from).map_err(value_error)
}

/// Calls `choose` and returns the chosen token.
///
/// # Errors
/// Any exception of `choose`. A `ValueError` or `TypeError` if `choose` does not return a token.
pub(crate) fn chosen(choose: &Bound<'_, PyAny>, logits: &[f32], tokens: Vec<u32>) -> PyResult<u32> {
    let token: Count = choose.call1((vector(logits), tokens))?.extract()?;
    let token = u32::try_from(token.0).unwrap_or(u32::MAX);
    vocabulary("what choose returns", [&token], logits.len())?;
    Ok(token)
}

impl Model {
    /// Checks `tokens`, and that a pass over `rows` sequences of the same length can be computed.
    pub(super) fn check(&self, rows: usize, tokens: &[u32]) -> PyResult<()> {
        let config = &self.0.config;
        vocabulary("tokens", tokens, config.vocab_size)?;
        let (found, context) = (tokens.len(), config.max_positions);
        refuse_if!(!(1..=context).contains(&found); "tokens", format_args!("{found} tokens");
            "1 to {context}, the context");
        self.0.check(tokens).map_err(wrong_argument("tokens"))?;
        self.fits(rows, tokens.len())
    }
}
