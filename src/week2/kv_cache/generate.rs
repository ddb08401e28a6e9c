//! Day 1. Generation with a cache: each position is computed once.
//!
//! Tasks here: week2-day1 task 4 (`Session::feed`, `Session::generate`). Everything else is
//! provided.

use std::{ops::ControlFlow, sync::Arc};

use anyhow::{Result, ensure};

use super::{
    cache::{CacheShape, CacheType, DenseCache, KvCache},
    model::{Model, Workspace},
    plan::Plan,
    rows::Row,
};
use crate::week1::generate::{FinishReason, Limits};

/// A model, a cache with one sequence, and everything needed to continue that sequence.
pub struct Session<C = DenseCache> {
    /// The model.
    pub model: Arc<Model>,
    /// Kernels, attention method and threads that run the model.
    pub plan: Arc<Plan>,
    /// The cache. Its sequence 0 holds the keys and values of `tokens`.
    pub(crate) cache: C,
    /// The sequence so far: every token that is in the cache.
    pub(crate) tokens: Vec<u32>,
    pub(crate) work: Workspace,
    /// Buffer for the rows of a pass.
    pub(crate) rows: Vec<Row>,
}

impl Session {
    /// Creates a session for one sequence of at most `context` tokens.
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
        Self::with_cache(model, plan, DenseCache::new(shape, cache_type))
    }
}

impl<C: KvCache> Session<C> {
    /// Creates a session with `cache`, which must be empty. The session's sequence can be as long
    /// as the cache's capacity and the model's context allow.
    #[must_use]
    pub fn with_cache(model: Arc<Model>, plan: Arc<Plan>, cache: C) -> Self {
        // Reserve memory for the whole sequence, so that appending a token doesn't allocate.
        let tokens = Vec::with_capacity(cache.shape().capacity.min(model.config.max_positions));
        Self { model, plan, cache, tokens, work: Workspace::default(), rows: Vec::new() }
    }

    /// Returns the cache with its keys and values.
    #[must_use]
    pub fn cache(&self) -> &C {
        &self.cache
    }

    /// Returns the sequence so far: every token that is in the cache.
    #[must_use]
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// Truncates the session's sequence to the prefix that it shares with `tokens`. The last token
    /// of `tokens` is never kept, so that the caller can compute the logits after it.
    pub fn keep_prefix(&mut self, tokens: &[u32]) {
        let same = self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let kept = same.min(tokens.len().saturating_sub(1));
        self.tokens.truncate(kept);
        self.cache.truncate(0, kept);
    }

    /// Removes the whole sequence.
    pub fn clear(&mut self) {
        self.keep_prefix(&[]);
    }

    /// Runs the model on `tokens` and appends them to the sequence. The tokens are run in chunks of
    /// at most `chunk` tokens, with one pass for each chunk. (A `chunk` of 0 counts as 1.) Returns
    /// the logits `[V]` after the last token.
    ///
    /// Decoding a token must not allocate memory (day 7 checks that), so keep the rows in
    /// `self.rows`.
    ///
    /// # Errors
    /// - There are no tokens. The message says `no tokens`.
    /// - A token or its position is out of range (see [`Model::check`]). The chunk with this token
    ///   and all later chunks are not added. The chunks before it remain in the sequence.
    pub fn feed(&mut self, tokens: &[u32], chunk: usize) -> Result<&[f32]> {
        todo!("week2-day1 task 4: Session::feed")
    }

    /// Replaces the sequence with `tokens`. Empties the cache and calls `fill`, which writes the
    /// keys and values of `tokens` into it.
    ///
    /// # Panics
    /// If `fill` does not write exactly `tokens.len()` positions.
    pub fn restore(&mut self, tokens: &[u32], fill: impl FnOnce(&mut C)) {
        self.clear();
        fill(&mut self.cache);
        assert_eq!(self.cache.len(0), tokens.len(), "numbers of positions and of tokens");
        self.tokens.extend_from_slice(tokens);
    }

    /// Keeps only the first `len` tokens of the sequence.
    pub fn truncate(&mut self, len: usize) {
        self.tokens.truncate(len);
        self.cache.truncate(0, len);
    }

    /// Generates tokens that continue `prompt`. The prefix that `prompt` shares with the sequence
    /// so far stays in the cache and is not computed again. The rest of the sequence is removed
    /// ([`Session::keep_prefix`]).
    ///
    /// `choose(logits, tokens)` returns the next token, as in week 1. Its `tokens` are the prompt
    /// and all new tokens so far. `on_token` receives every new token except a stop token. Limits
    /// are checked in the same order as in week 1. `limits.context` is the maximum length of the
    /// whole sequence, including the prefix that is already in the cache.
    ///
    /// # Errors
    /// - The prompt is empty. The message says `empty`.
    /// - The prompt is longer than the context. The message names both lengths.
    /// - [`Session::feed`] fails, for example if a token of the prompt is not in the vocabulary.
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
