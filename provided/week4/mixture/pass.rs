//! Day 6. Runs a model with experts in week 3's engine.
//!
//! The engine's cache can't free the positions that have left a layer's window, because a page
//! holds the keys and values of all layers.

use std::sync::Arc;

use crate::week4::mixture::model::{MixtureModel, Workspace};
use crate::{
    week2::{cache::KvCache, plan::Plan, rows::Row},
    week3::pass::Pass,
};

/// A [`Pass`] that runs a model with experts.
pub struct MixturePass {
    model: Arc<MixtureModel>,
    plan: Arc<Plan>,
    work: Workspace,
}

impl MixturePass {
    /// Creates a pass that runs `model` as `plan` specifies.
    #[must_use]
    pub fn new(model: Arc<MixtureModel>, plan: Arc<Plan>) -> Self {
        Self { model, plan, work: Workspace::default() }
    }
}

impl<C: KvCache> Pass<C> for MixturePass {
    fn vocab_size(&self) -> usize {
        self.model.config.base.vocab_size
    }

    fn max_positions(&self) -> usize {
        self.model.config.base.max_positions
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        self.model.forward(rows, cache, &self.plan, &mut self.work);
    }

    fn logits(&self) -> &[f32] {
        self.work.logits()
    }
}
