//! Day 1. Generating with a cache: each position is computed once.

use std::{ops::ControlFlow, sync::Arc};

use anyhow::{Result, ensure};

use super::{
    cache::{CacheShape, CacheType, DenseCache},
    model::{Model, Plan, Workspace},
    rows::Row,
};
use crate::week1::generate::{FinishReason, Limits};

/// A model, one sequence in its cache, and what is needed to go on with it.
pub struct Session {
    /// The weights.
    pub model: Arc<Model>,
    /// How they are used.
    pub plan: Arc<Plan>,
    /// The sequence so far.
    pub cache: DenseCache,
    work: Workspace,
    rows: Vec<Row>,
}

impl Session {
    /// Room for one sequence of `context` tokens.
    #[must_use]
    pub fn new(model: Arc<Model>, plan: Arc<Plan>, context: usize, cache_type: CacheType) -> Self {
        let c = &model.config;
        let shape = CacheShape {
            layers: c.n_layers,
            sequences: 1,
            kv_heads: c.n_kv_heads,
            capacity: context,
            head_dim: c.head_dim,
        };
        let cache = DenseCache::new(shape, cache_type);
        Self { model, plan, cache, work: Workspace::default(), rows: Vec::new() }
    }

    /// Runs `tokens` after those in the cache, in chunks of at most `chunk` rows (0 counts as 1),
    /// and returns the logits `[V]` after the last one.
    ///
    /// # Errors
    /// If there are no tokens, or one of them or its position is out of range; the cache then holds
    /// what came before that chunk.
    pub fn feed(&mut self, tokens: &[u32], chunk: usize) -> Result<&[f32]> {
        todo!("week2-day1 task 4: Session::feed")
    }

    /// Extends `prompt`, whose first tokens may be in the cache already; at least its last must not
    /// be.
    ///
    /// `choose(logits, tokens)` is as in week 1, with the prompt and all new tokens; `on_token`
    /// receives every new token and never a stop token. Limits are looked at in week 1's order;
    /// `limits.context` counts every position of the sequence.
    ///
    /// # Errors
    /// If the prompt is empty, too long, or holds a token that is not in the vocabulary.
    pub fn generate(
        &mut self,
        prompt: &[u32],
        chunk: usize,
        limits: &Limits,
        mut choose: impl FnMut(&[f32], &[u32]) -> u32,
        mut on_token: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<FinishReason> {
        todo!("week2-day1 task 4: Session::generate")
    }
}
