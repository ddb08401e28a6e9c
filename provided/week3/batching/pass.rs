//! The engine's interface to a model: one pass over a step's rows.

use std::sync::Arc;

use crate::week2::{
    cache::KvCache,
    model::{Model, Workspace},
    plan::Plan,
    rows::Row,
};

/// Computes the logits of a step's rows. [`ModelPass`] is an implementation that runs a model. A
/// simulation can just add up the costs of rows.
pub trait Pass<C> {
    /// Returns `V`, the size of the vocabulary.
    fn vocab_size(&self) -> usize;

    /// Returns the maximum length of a sequence, in tokens.
    fn max_positions(&self) -> usize;

    /// Computes the rows, and calls [`KvCache::advance`] once for each row.
    fn run(&mut self, rows: &[Row], cache: &mut C);

    /// Returns the logits `[n, V]` of the last pass. The `n` rows are those that requested logits,
    /// in order.
    fn logits(&self) -> &[f32];

    /// Returns the simulated seconds of the last pass. Returns `None` for a real pass, which the
    /// caller times with a clock.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

/// A [`Pass`] that runs a model.
pub struct ModelPass {
    model: Arc<Model>,
    plan: Arc<Plan>,
    work: Workspace,
}

impl ModelPass {
    /// Creates a pass that runs `model` as `plan` specifies.
    #[must_use]
    pub fn new(model: Arc<Model>, plan: Arc<Plan>) -> Self {
        Self { model, plan, work: Workspace::default() }
    }
}

impl<C: KvCache> Pass<C> for ModelPass {
    fn vocab_size(&self) -> usize {
        self.model.config.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.model.config.max_positions
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        self.model.forward(rows, cache, &self.plan, &mut self.work);
    }

    fn logits(&self) -> &[f32] {
        self.work.logits()
    }
}
