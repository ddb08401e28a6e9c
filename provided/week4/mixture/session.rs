//! Day 6. One sequence of a model with experts, like week 2's `Session`.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::week2::{
    cache::{CacheShape, CacheType, KvCache},
    plan::Plan,
    rows::Row,
};
use crate::week4::mixture::{
    cache::WindowedCache,
    model::{MixtureModel, Seen, Workspace},
};

/// Runs a model with experts on one sequence, whose keys and values it caches.
pub struct MixtureSession {
    /// The model.
    pub model: Arc<MixtureModel>,
    /// The kernels, attention and threads that run the model.
    pub plan: Arc<Plan>,
    cache: WindowedCache,
    chunk: usize,
    tokens: Vec<u32>,
    work: Workspace,
}

impl MixtureSession {
    /// Creates a session for one text, at most as long as the model's context. The prompt is
    /// computed in chunks of at most `chunk` rows.
    #[must_use]
    pub fn new(
        model: Arc<MixtureModel>,
        plan: Arc<Plan>,
        chunk: usize,
        cache_type: CacheType,
    ) -> Self {
        let c = &model.config.base;
        let shape = CacheShape::of(c, 1, c.max_positions);
        let chunk = chunk.max(1);
        let cache = WindowedCache::new(shape, &model.config.windows, chunk, cache_type);
        Self { model, plan, cache, chunk, tokens: Vec::new(), work: Workspace::default() }
    }

    /// Returns the logits `[V]` after the last of `tokens`. Reuses the prefix that `tokens` shares
    /// with the previous call's tokens, if the cache still holds all keys and values that the rest
    /// needs. Calls `each` after every pass.
    ///
    /// # Errors
    /// If there are no tokens, or a token or its position is out of range.
    pub fn logits_after(&mut self, tokens: &[u32], mut each: impl FnMut(&Seen)) -> Result<&[f32]> {
        ensure!(!tokens.is_empty(), "there are no tokens to start from");
        let same = self.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let kept = same.min(tokens.len() - 1);
        let kept = if self.cache.reaches(kept) { kept } else { 0 };
        self.tokens.truncate(kept);
        self.cache.truncate(0, kept);
        for start in (kept..tokens.len()).step_by(self.chunk) {
            let end = tokens.len().min(start + self.chunk);
            let row = |(i, &token)| Row {
                token,
                position: start + i,
                sequence: 0,
                logits: end == tokens.len() && start + i + 1 == end,
            };
            let rows: Vec<Row> = tokens[start..end].iter().enumerate().map(row).collect();
            self.model.check(&rows, &self.cache)?;
            self.model.forward(&rows, &mut self.cache, &self.plan, &mut self.work);
            self.tokens.extend_from_slice(&tokens[start..end]);
            each(self.work.seen());
        }
        Ok(self.work.logits())
    }

    /// Removes all tokens from the session and its cache.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.cache.truncate(0, 0);
    }

    /// Returns the cache.
    #[must_use]
    pub fn cache(&self) -> &WindowedCache {
        &self.cache
    }
}
