//! What a step asks of a model: one pass over its rows.

use std::sync::Arc;

use crate::week2::{
    cache::KvCache,
    model::{Model, Workspace},
    plan::Plan,
    rows::Row,
};

/// What answers a step's rows with logits. [`ModelPass`] runs a model; a simulation of an engine
/// only adds up what the rows would cost.
pub trait Pass<C> {
    /// `V`
    fn vocab_size(&self) -> usize;

    /// The longest sequence, in tokens.
    fn max_positions(&self) -> usize;

    /// Runs the rows, and tells the cache of each ([`KvCache::advance`]).
    fn run(&mut self, rows: &[Row], cache: &mut C);

    /// Logits `[n, V]` of the `n` rows of the last pass that wanted them, in their order.
    fn logits(&self) -> &[f32];

    /// Seconds that the last pass would have taken, if it was only counted; `None` if a clock tells.
    fn seconds(&self) -> Option<f64> {
        None
    }
}

/// A model and how it is computed.
pub struct ModelPass {
    model: Arc<Model>,
    plan: Arc<Plan>,
    work: Workspace,
}

impl ModelPass {
    /// This model, computed like this.
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
