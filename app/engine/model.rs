//! A loaded model, with or without experts, for week 3's engine.

use std::sync::Arc;

use tiny_llm::{
    week2::{
        cache::{CacheType, KvCache},
        model::Model,
        plan::Plan,
        rows::Row,
    },
    week3::pass::{ModelPass, Pass},
    week4::mixture::{model::MixtureModel, pass::MixturePass},
};
use tiny_llm_formats::config::ModelConfig;

/// A model, how it is run, and how keys and values are stored.
pub(crate) struct Loaded {
    pub(crate) model: AnyModel,
    pub(crate) plan: Arc<Plan>,
    pub(crate) cache_type: CacheType,
}

/// Week 2's model, or a model with experts.
pub(crate) enum AnyModel {
    Dense(Arc<Model>),
    Experts(Arc<MixtureModel>),
}

impl AnyModel {
    pub(crate) fn config(&self) -> &ModelConfig {
        match self {
            Self::Dense(model) => &model.config,
            Self::Experts(model) => &model.config.base,
        }
    }

    /// Returns the forward pass that each step of the batch runs.
    pub(crate) fn pass(&self, plan: Arc<Plan>) -> AnyPass {
        match self {
            Self::Dense(model) => AnyPass::Dense(Box::new(ModelPass::new(Arc::clone(model), plan))),
            Self::Experts(model) => {
                AnyPass::Experts(Box::new(MixturePass::new(Arc::clone(model), plan)))
            }
        }
    }
}

/// A forward pass of week 2's model, or of a model with experts.
pub(crate) enum AnyPass {
    Dense(Box<ModelPass>),
    Experts(Box<MixturePass>),
}

impl<C: KvCache> Pass<C> for AnyPass {
    fn vocab_size(&self) -> usize {
        match self {
            Self::Dense(pass) => Pass::<C>::vocab_size(pass.as_ref()),
            Self::Experts(pass) => Pass::<C>::vocab_size(pass.as_ref()),
        }
    }

    fn max_positions(&self) -> usize {
        match self {
            Self::Dense(pass) => Pass::<C>::max_positions(pass.as_ref()),
            Self::Experts(pass) => Pass::<C>::max_positions(pass.as_ref()),
        }
    }

    fn run(&mut self, rows: &[Row], cache: &mut C) {
        match self {
            Self::Dense(pass) => pass.run(rows, cache),
            Self::Experts(pass) => pass.run(rows, cache),
        }
    }

    fn logits(&self) -> &[f32] {
        match self {
            Self::Dense(pass) => Pass::<C>::logits(pass.as_ref()),
            Self::Experts(pass) => Pass::<C>::logits(pass.as_ref()),
        }
    }
}
