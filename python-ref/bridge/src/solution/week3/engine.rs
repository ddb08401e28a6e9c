//! Day 1: the engine.

use super::{
    super::{
        rust::week2::cache::CacheShape,
        week1::generate::FinishReason,
        week2::{
            cache::{CacheType, check},
            model::{Model, plan},
        },
    },
    request::Request,
    rust::{
        engine::{self as rust},
        options::EngineOptions,
        room::dense,
    },
};
use crate::prelude::*;

exports! { class Engine; }

/// An engine: requests, a model and a cache. A token's text is its id in brackets, such as `<12>`.
#[pyclass]
pub(crate) struct Engine {
    engine: Kept<rust::Engine>,
    max_batch: usize,
    context: usize,
}

/// An event: a request's id, and either its next token or why it ended.
type Event = (u64, Option<u32>, Option<FinishReason>);

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(
        signature = (model, max_batch, context, cache_type=CacheType::F32, *, budget=None),
        text_signature = "(model, max_batch, context, cache_type=..., *, budget=None)"
    )]
    fn new(
        model: Model,
        max_batch: Count,
        context: Count,
        cache_type: CacheType,
        budget: Option<Count>,
    ) -> PyResult<Self> {
        let budget = budget.map(|rows| rows.0);
        if let Some(rows) = budget.filter(|&rows| rows < 2) {
            return Err(wrong("budget", rows, "2 or more"));
        }
        let (c, sequences) = (&model.0.config, max_batch.0);
        let context = context.0.min(c.max_positions);
        let (layers, kv_heads, head_dim) = (c.n_layers, c.n_kv_heads, c.head_dim);
        check(CacheShape { layers, sequences, kv_heads, capacity: context, head_dim }, cache_type)?;
        let cache = dense(&model.0, sequences, context, cache_type.into());
        let bytes = Box::new(|token| format!("<{token}>").into_bytes());
        let options = EngineOptions { budget, ..EngineOptions::default() };
        let engine = rust::Engine::new(model.0, Arc::new(plan()), cache, options, bytes);
        Ok(Self { engine: Kept::new(engine), max_batch: sequences, context })
    }

    /// Submits a request and returns its id.
    fn submit(&self, request: Request) -> PyResult<u64> {
        let id = self.engine.call(move |engine| engine.submit(request.0))?;
        id.map_err(wrong_argument("request"))
    }

    /// Ends a request whose client has disconnected. Returns whether there was such a request.
    fn cancel(&self, id: Count) -> PyResult<bool> {
        self.engine.call(move |engine| engine.cancel(id.0 as u64))
    }

    /// Runs one forward pass. Returns an event for each new token and each finished request: the
    /// request's id, and the token or why the request ended.
    fn step(&self) -> PyResult<Vec<Event>> {
        self.engine.call(|engine| {
            let mut events = Vec::new();
            engine.step(&mut |event| {
                events.push(match event {
                    rust::Event::Token { id, token } => (id, Some(token), None),
                    rust::Event::Finished { id, reason } => (id, None, Some(reason.into())),
                });
            });
            events
        })
    }

    /// Returns whether all requests have ended.
    fn is_idle(&self) -> PyResult<bool> {
        self.engine.call(|engine| engine.is_idle())
    }

    /// Returns the number of forward passes, their total rows, and the most rows of one pass.
    fn counts(&self) -> PyResult<(u64, u64, usize)> {
        self.engine.call(|engine| {
            let counts = engine.counts();
            (counts.steps, counts.rows, counts.most_rows)
        })
    }

    fn __repr__(&self) -> String {
        format!("Engine(max_batch={}, context={})", self.max_batch, self.context)
    }
}
