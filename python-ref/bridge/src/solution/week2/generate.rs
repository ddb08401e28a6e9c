//! Day 1.

use std::{ops::ControlFlow, sync::Arc};

use pyo3::{exceptions::PyValueError, prelude::*};

use super::{
    super::{rust::week1::generate::Limits, week1::generate::chosen},
    cache::{CacheType, check},
    model::{Model, plan},
    rust::{cache::CacheShape, generate as rust},
};
use crate::{
    background::Kept,
    convert::{Count, Floats, Ids, vector},
    panics::value_error,
    shapes::{at_least_one, vocabulary, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Session>()
}

/// A model and one sequence in its cache. A call that Ctrl-C ends goes on in the background to the end of its part; the next
/// call waits for that.
#[pyclass]
pub(crate) struct Session {
    held: Kept<Held>,
    vocab_size: usize,
    /// How many positions both the cache and the model have room for.
    context: usize,
}

/// A session, and which tokens stand in its cache.
struct Held {
    session: rust::Session,
    /// At least as many as the cache has positions.
    tokens: Vec<u32>,
}

impl Held {
    /// Says that `tokens` come after those in the cache.
    fn expect(&mut self, tokens: &[u32]) {
        self.tokens.truncate(self.session.cache.len(0));
        self.tokens.extend_from_slice(tokens);
    }

    /// Whether a prompt continues what is in the cache.
    fn check(&mut self, prompt: &[u32], context: usize) -> Result<(), String> {
        self.tokens.truncate(self.session.cache.len(0));
        let (found, before) = (prompt.len(), self.tokens.len());
        if found == 0 {
            return Err("found an empty prompt, expected a token to start from".to_owned());
        }
        if found > context {
            return Err(format!("found {found} tokens, expected at most {context}, the context"));
        }
        if found <= before {
            return Err(format!(
                "found {found} tokens, expected more than the {before} in the cache"
            ));
        }
        match self.tokens.iter().zip(prompt).position(|(held, token)| held != token) {
            None => Ok(()),
            Some(at) => Err(format!(
                "found token {} at position {at}, expected {}, which the cache has there",
                prompt[at], self.tokens[at]
            )),
        }
    }
}

fn wrong_prompt(problem: String) -> PyErr {
    PyValueError::new_err(format!("prompt: {problem}"))
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (model, context, cache_type=CacheType::F32))]
    fn new(model: Model, context: Count, cache_type: CacheType) -> PyResult<Self> {
        let context = context.0;
        at_least_one("context", context)?;
        let c = &model.0.config;
        let (layers, kv_heads, head_dim) = (c.n_layers, c.n_kv_heads, c.head_dim);
        let shape = CacheShape { layers, sequences: 1, kv_heads, capacity: context, head_dim };
        check(shape, cache_type)?;
        let vocab_size = c.vocab_size;
        let usable = context.min(c.max_positions);
        let session = rust::Session::new(model.0, Arc::new(plan()), context, cache_type.into());
        let held = Kept::new(Held { session, tokens: Vec::new() });
        Ok(Self { held, vocab_size, context: usable })
    }

    /// Logits `[V]` after the last of `tokens`, which follow those in the cache.
    fn feed(&mut self, py: Python<'_>, tokens: Ids<1>, chunk: Count) -> PyResult<Floats> {
        let (tokens, context) = (tokens.to_vec(), self.context);
        vocabulary("tokens", &tokens, self.vocab_size)?;
        let logits = self.held.call(py, move |held| {
            let before = held.session.cache.len(0);
            if tokens.is_empty() || before + tokens.len() > context {
                let found = format!("{} tokens after {before}", tokens.len());
                let expected = format!("one at least, and no more than {context} together");
                return Err(wrong("tokens", &found, &expected));
            }
            held.expect(&tokens);
            let logits = held.session.feed(&tokens, chunk.0).map(<[f32]>::to_vec);
            logits.map_err(value_error)
        })?;
        Ok(vector(&logits?))
    }

    /// New tokens, of which `choose(logits, tokens)` picks each.
    fn generate(
        &mut self,
        py: Python<'_>,
        prompt: Ids<1>,
        chunk: Count,
        max_new_tokens: Count,
        choose: Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        let (prompt, context) = (prompt.to_vec(), self.context);
        vocabulary("prompt", &prompt, self.vocab_size)?;
        let limits =
            Limits { max_new_tokens: max_new_tokens.0, context, stop_tokens: Default::default() };
        let work = move |held: &mut Held, ask: &mut dyn FnMut((Vec<f32>, Vec<u32>)) -> u32| {
            held.check(&prompt, context).map_err(wrong_prompt)?;
            held.expect(&prompt[held.tokens.len()..]);
            let mut made = Vec::new();
            let Held { session, tokens: known } = held;
            let choose = |logits: &[f32], tokens: &[u32]| {
                let token = ask((logits.to_vec(), tokens.to_vec()));
                known.push(token);
                token
            };
            let on_token = |token| {
                made.push(token);
                ControlFlow::Continue(())
            };
            let reason = session.generate(&prompt, chunk.0, &limits, choose, on_token);
            reason.map(|_| made).map_err(value_error)
        };
        let answer = |(logits, tokens): (Vec<f32>, Vec<u32>)| chosen(&choose, &logits, tokens);
        self.held.converse(py, work, answer)?
    }

    /// Forgets all positions from `len` on.
    fn truncate(&mut self, py: Python<'_>, len: Count) -> PyResult<()> {
        self.held.call(py, move |held| held.session.cache.truncate(0, len.0))
    }

    /// How many positions have been computed so far.
    fn computed(&self, py: Python<'_>) -> PyResult<usize> {
        self.held.call(py, |held| held.session.cache.computed())
    }

    fn __repr__(&self) -> String {
        format!("Session(context={}, vocab_size={})", self.context, self.vocab_size)
    }
}
