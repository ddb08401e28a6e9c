//! Day 2: a model as a graph.

use super::{
    super::week2::{
        cache::CacheType,
        model::{Asked, Model, plan},
    },
    rust::engine::GraphEngine,
};
use crate::prelude::*;

exports! { fn forward; }

/// Runs passes of rows `(token, position, sequence, logits)` on an empty cache, each as a graph.
/// Returns the logits `[n, V]` of rows whose `logits` is true, at least one per pass.
#[pyfunction]
#[pyo3(
    signature = (model, passes, sequences=Count(1), cache_type=CacheType::F32),
    text_signature = "(model, passes, sequences=1, cache_type=...)"
)]
fn forward(
    model: Model,
    passes: Vec<Vec<Asked>>,
    sequences: Count,
    cache_type: CacheType,
) -> PyResult<Floats> {
    let (plan, mut engine) = (plan(), GraphEngine::default());
    model.passes(passes, sequences, cache_type, move |model, rows, cache, logits| {
        logits.extend_from_slice(engine.forward(model, rows, cache, &plan)?);
        Ok(())
    })
}
