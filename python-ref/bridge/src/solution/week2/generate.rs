//! Day 1.

use std::ops::ControlFlow;

use super::{
    super::{rust::week1::generate::Limits, week1::generate::chosen},
    cache::{CacheType, check},
    model::{Model, plan},
    rust::{
        cache::{CacheShape, KvCache as _},
        generate as rust,
    },
};
use crate::prelude::*;

exports! { class Session; }

/// A model and a cache with one sequence. After Ctrl-C, a call continues in the background until it
/// is done or calls Python. The next call waits until then.
#[pyclass]
pub(crate) struct Session {
    session: Kept<rust::Session>,
    vocab_size: usize,
    /// Maximum number of positions, in both the cache and the model.
    context: usize,
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
        Ok(Self { session: Kept::new(session), vocab_size, context: usable })
    }

    /// Appends `tokens`, in passes of up to `chunk`. Returns the logits `[V]` after the last token.
    fn feed(&mut self, tokens: Ids<1>, chunk: Count) -> PyResult<Floats> {
        let (tokens, context) = (tokens.to_vec(), self.context);
        vocabulary("tokens", &tokens, self.vocab_size)?;
        let logits = self.session.call(move |session| {
            let before = session.cache().len(0);
            refuse_if!(tokens.is_empty() || before + tokens.len() > context;
                "tokens", format_args!("{} tokens after {before}", tokens.len());
                "at least one, and no more than {context} together");
            session.feed(&tokens, chunk.0).map(<[f32]>::to_vec).map_err(value_error)
        })?;
        Ok(vector(&logits?))
    }

    /// Returns the new tokens after `prompt`, each of which `choose(logits, tokens)` picks.
    fn generate(
        &mut self,
        prompt: Ids<1>,
        chunk: Count,
        max_new_tokens: Count,
        choose: Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        let (prompt, context) = (prompt.to_vec(), self.context);
        vocabulary("prompt", &prompt, self.vocab_size)?;
        refuse_if!(!(1..=context).contains(&prompt.len());
            "prompt", format_args!("{} tokens", prompt.len()); "1 to {context}, the context");
        let limits =
            Limits { max_new_tokens: max_new_tokens.0, context, stop_tokens: Default::default() };
        let work = move |session: &mut rust::Session, ask: &mut Ask<'_>| {
            let choose = |logits: &[f32], tokens: &[u32]| ask((logits.to_vec(), tokens.to_vec()));
            let mut made = Vec::new();
            let on_token = |token| {
                made.push(token);
                ControlFlow::Continue(())
            };
            let reason = session.generate(&prompt, chunk.0, &limits, choose, on_token);
            reason.map(|_| made).map_err(value_error)
        };
        let answer = |(logits, tokens): Choice| chosen(&choose, &logits, tokens);
        self.session.converse(work, answer)?
    }

    /// Truncates the sequence to its common prefix with all but the last of `tokens`.
    fn keep_prefix(&mut self, tokens: Ids<1>) -> PyResult<()> {
        let tokens = tokens.to_vec();
        self.session.call(move |session| session.keep_prefix(&tokens))
    }

    /// Returns the sequence so far.
    fn tokens(&self) -> PyResult<Vec<u32>> {
        self.session.call(|session| session.tokens().to_vec())
    }

    /// Returns how many positions have been computed so far.
    fn computed(&self) -> PyResult<usize> {
        self.session.call(|session| session.cache().computed())
    }

    fn __repr__(&self) -> String {
        format!("Session(context={}, vocab_size={})", self.context, self.vocab_size)
    }
}

/// The logits to choose from, and the tokens before them.
type Choice = (Vec<f32>, Vec<u32>);

/// A function that asks Python to choose a token.
type Ask<'a> = dyn FnMut(Choice) -> u32 + 'a;
