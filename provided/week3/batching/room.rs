//! What the engine asks of a cache besides what the model asks of it: room.

use crate::week2::{
    cache::{CacheShape, CacheType, DenseCache, KvCache},
    model::Model,
};

/// A cache that says whether there is room for more positions.
pub trait EngineCache: KvCache {
    /// Makes room for a sequence's positions up to `len`. False if there is none; then nothing has
    /// changed.
    fn reserve(&mut self, sequence: usize, len: usize) -> bool;

    /// Gives the empty sequence what the cache already holds of the beginning of `tokens`. Returns
    /// how many positions those are: not all, since the last token's logits are wanted. A cache
    /// that does not remember has none.
    fn attach_prefix(&mut self, _sequence: usize, _tokens: &[u32]) -> usize {
        0
    }

    /// Counts the pages in use that are neither this sequence's nor given up on demand.
    fn pages_of_others(&self, _sequence: usize) -> usize {
        0
    }

    /// Says that the sequence's positions hold these tokens, so that others may find them.
    fn remember(&mut self, _sequence: usize, _tokens: &[u32]) {}
}

/// All room is set aside from the start.
impl EngineCache for DenseCache {
    fn reserve(&mut self, _sequence: usize, len: usize) -> bool {
        len <= self.shape().capacity
    }
}

/// A cache with room for `sequences` of a model's sequences, each of at most `context` positions.
#[must_use]
pub fn dense(model: &Model, sequences: usize, context: usize, cache_type: CacheType) -> DenseCache {
    let c = &model.config;
    let shape = CacheShape {
        layers: c.n_layers,
        sequences,
        kv_heads: c.n_kv_heads,
        capacity: context.min(c.max_positions),
        head_dim: c.head_dim,
    };
    DenseCache::new(shape, cache_type)
}
