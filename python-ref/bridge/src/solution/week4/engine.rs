//! Day 2: a model as a graph.

use super::{
    super::{
        rust::week2::{
            cache::{CacheShape, DenseCache},
            rows::Row,
        },
        week2::{
            cache::{CacheType, check},
            model::{Asked, Model, plan, row},
        },
    },
    rust::engine::GraphEngine,
};
use crate::prelude::*;

exports! { fn forward; }

/// Passes of rows `(token, position, sequence, wants logits)` on an empty cache, each as a graph →
/// `[n, V]` of the rows that want logits, at least one in each pass.
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
    let c = &model.0.config;
    at_least_one("sequences", sequences.0)?;
    let shape = CacheShape {
        layers: c.n_layers,
        sequences: sequences.0,
        kv_heads: c.n_kv_heads,
        capacity: c.max_positions,
        head_dim: c.head_dim,
    };
    check(shape, cache_type)?;
    let passes = passes.into_iter().map(|pass| pass.into_iter().map(row).collect());
    let passes = passes.collect::<PyResult<Vec<Vec<Row>>>>()?;
    let vocab_size = c.vocab_size;
    vocabulary("passes", passes.iter().flatten().map(|row| &row.token), vocab_size)?;
    let wanted = passes.iter().flatten().filter(|row| row.logits).count();
    room("the logits", &[wanted, vocab_size])?;
    let model = Arc::clone(&model.0);
    let logits = call(move || {
        let mut cache = DenseCache::new(shape, cache_type.into());
        let (plan, mut engine) = (plan(), GraphEngine::default());
        let mut all = Vec::new();
        for rows in passes {
            model.check(&rows, &cache)?;
            all.extend_from_slice(engine.forward(&model, &rows, &mut cache, &plan)?);
        }
        anyhow::Ok(all)
    })?;
    let logits = logits.map_err(wrong_argument("passes"))?;
    Ok(Floats(tensor(&[logits.len() / vocab_size, vocab_size], logits)))
}
