//! Day 1.

use std::{ops::ControlFlow, sync::Arc};

use pyo3::prelude::*;

use super::{
    cache::CacheType,
    model::{Model, plan},
    rust::{cache::KvCache as _, generate as rust},
};
use crate::{
    convert::{Ids, Vector, vector},
    panics::{call, catch, unwrap_or_unwind, value_error},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Session>()
}

#[pyclass]
pub(crate) struct Session(rust::Session);

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (model, context, cache_type=CacheType::F32))]
    fn new(model: Model, context: usize, cache_type: CacheType) -> Self {
        Self(rust::Session::new(model.0, Arc::new(plan()), context, cache_type.into()))
    }

    /// Logits `[V]` after the last of `tokens`, which follow those in the cache.
    fn feed(&mut self, py: Python<'_>, tokens: Ids<1, 1>, chunk: usize) -> PyResult<Vector> {
        let tokens = tokens.to_vec();
        let logits = call(py, || self.0.feed(&tokens, chunk).map(<[f32]>::to_vec))?;
        Ok(vector(&logits.map_err(value_error)?))
    }

    /// New tokens, of which `choose(logits, tokens) -> int` picks each.
    fn generate(
        &mut self,
        prompt: Ids<1, 1>,
        chunk: usize,
        max_new_tokens: usize,
        choose: Bound<'_, PyAny>,
    ) -> PyResult<Vec<u32>> {
        let context = self.0.cache().shape().capacity;
        let limits = super::super::rust::week1::generate::Limits {
            max_new_tokens,
            context,
            stop_tokens: Default::default(),
        };
        let choose = |logits: &[f32], tokens: &[u32]| -> PyResult<u32> {
            choose.call1((vector(logits), tokens.to_vec()))?.extract()
        };
        let mut made = Vec::new();
        let reason = catch(|| {
            let on_token = |token| {
                made.push(token);
                ControlFlow::Continue(())
            };
            self.0.generate(
                &prompt.to_vec(),
                chunk,
                &limits,
                |logits, tokens| unwrap_or_unwind(choose(logits, tokens)),
                on_token,
            )
        })?;
        reason.map_err(value_error)?;
        Ok(made)
    }

    /// Forgets what the sequence does not have in common with `tokens`, and their last token.
    fn keep_prefix(&mut self, tokens: Ids<1, 1>) {
        self.0.keep_prefix(&tokens.to_vec());
    }

    /// The sequence so far.
    fn tokens(&self) -> Vec<u32> {
        self.0.tokens().to_vec()
    }

    /// How many positions have been computed so far.
    fn computed(&self) -> usize {
        self.0.cache().computed()
    }
}
