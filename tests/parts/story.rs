//! The model that comes with the course, and inputs for its passes.

use std::path::Path;

use tiny_llm::week2::{
    cache::{CacheShape, CacheType, DenseCache},
    load::load_folder,
    model::Model,
    rows::Row,
};

/// Loads the model, with a context of 64 positions.
pub(crate) fn story() -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tiny-story");
    load_folder(&folder, 64).expect("the model that comes with the course")
}

/// Returns an empty cache for one sequence.
pub(crate) fn cache_for(model: &Model) -> DenseCache {
    let c = &model.config;
    let shape = CacheShape::of(c, 1, c.max_positions);
    DenseCache::new(shape, CacheType::F16)
}

/// Returns `n` rows from position `start` on. Only the last row requests logits.
pub(crate) fn rows(model: &Model, start: usize, n: usize) -> Vec<Row> {
    let row = |i: usize| Row {
        token: (97 * (start + i) % model.config.vocab_size) as u32,
        position: start + i,
        sequence: 0,
        logits: i + 1 == n,
    };
    (0..n).map(row).collect()
}
