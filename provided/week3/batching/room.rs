//! The engine's interface to a cache. In addition to what the model requires, the cache must be
//! able to reserve space.

use crate::week2::{
    cache::{CacheShape, CacheType, DenseCache, KvCache},
    model::Model,
};

/// A cache that can reserve space for more positions.
pub trait EngineCache: KvCache {
    /// Reserves space for the sequence's first `len` positions. Returns false, and changes nothing,
    /// if there isn't enough space.
    fn reserve(&mut self, sequence: usize, len: usize) -> bool;

    /// Attaches the cached positions of a prefix of `tokens` to an empty sequence. Returns the
    /// length of that prefix. It is less than `tokens.len()`, because the last token's logits are
    /// needed. It is 0 for a cache that doesn't remember tokens.
    fn attach_prefix(&mut self, _sequence: usize, _tokens: &[u32]) -> usize {
        0
    }

    /// Returns the number of pages in use that don't belong to this sequence and can't be evicted.
    fn pages_of_others(&self, _sequence: usize) -> usize {
        0
    }

    /// Records that the sequence's first positions hold the keys and values of these tokens, so
    /// that other sequences can reuse these positions.
    fn remember(&mut self, _sequence: usize, _tokens: &[u32]) {}
}

/// A dense cache reserves all its space when it's created.
impl EngineCache for DenseCache {
    fn reserve(&mut self, _sequence: usize, len: usize) -> bool {
        len <= self.shape().capacity
    }
}

/// Creates a cache for `sequences` sequences of a model, each of at most `context` positions.
#[must_use]
pub fn dense(model: &Model, sequences: usize, context: usize, cache_type: CacheType) -> DenseCache {
    let c = &model.config;
    let shape = CacheShape::of(c, sequences, context.min(c.max_positions));
    DenseCache::new(shape, cache_type)
}
