//! Day 5. A paged cache that keeps the pages of earlier requests, so that later requests can reuse
//! them.
//!
//! Tasks here: week3-day5 task 3 (`SharedCache::reserve`, `SharedCache::attach_prefix`,
//! `SharedCache::remember`). Everything else is provided.

use std::ops::Range;

use super::{
    paged::PagedCache, prefix_hash::HashPage, prefix_index::PrefixIndex, reader::Pages,
    room::EngineCache,
};
use crate::week2::cache::{CacheShape, KvCache, Run};

/// A paged cache, and an index of the pages that hold prefixes of texts.
#[derive(Debug)]
pub struct SharedCache {
    pages: PagedCache,
    index: PrefixIndex,
    /// `[sequences]`. For each sequence, counts the pages at its beginning that came from the index
    /// or were passed to [`PrefixIndex::insert`] before.
    told: Vec<usize>,
}

impl SharedCache {
    /// Combines the empty cache `pages` with an empty index. `fingerprint` identifies the model.
    #[must_use]
    pub fn new(pages: PagedCache, fingerprint: u64, hash: HashPage) -> Self {
        let index = PrefixIndex::new(fingerprint, pages.page_len(), hash);
        let told = vec![0; pages.shape().sequences];
        Self { pages, index, told }
    }

    /// Returns the paged cache.
    #[must_use]
    pub fn pages(&self) -> &PagedCache {
        &self.pages
    }

    /// Returns the index of the pages that hold prefixes.
    #[must_use]
    pub fn index(&self) -> &PrefixIndex {
        &self.index
    }
}

impl EngineCache for SharedCache {
    /// Reserves positions like [`PagedCache::reserve`]. If too few pages are free, first evicts
    /// pages of the index that no sequence owns, but no more than needed. If even evicting all such
    /// pages would not free enough, evicts none and returns false. As on day 3, each new page takes
    /// a free page, and so does the copy of each shared page ([`PagedCache::num_shared`]).
    /// [`PrefixIndex::num_unowned`] counts the pages that can be evicted.
    fn reserve(&mut self, sequence: usize, len: usize) -> bool {
        todo!("week3-day5 task 3: SharedCache::reserve")
    }

    fn pages_of_others(&self, sequence: usize) -> usize {
        self.pages.pages_of_others(sequence) - self.index.num_unowned(self.pages.pool())
    }

    /// Looks up `tokens` with [`PrefixIndex::find`], retains the pages found, and attaches them to
    /// the sequence ([`PagedCache::attach`]). The sequence must be empty. Doesn't copy the pages:
    /// the sequence becomes one of their owners. Sets the sequence's `told` to the number of pages
    /// attached. Returns the number of positions attached, which is always less than
    /// `tokens.len()`.
    fn attach_prefix(&mut self, sequence: usize, tokens: &[u32]) -> usize {
        todo!("week3-day5 task 3: SharedCache::attach_prefix")
    }

    /// Adds newly full pages of a sequence to the index. `tokens` holds the sequence's tokens whose
    /// keys and values have been computed. If `tokens` fills more than `told` pages, passes
    /// `tokens`, with the pool and the table from [`PagedCache::pool_and_table`], to
    /// [`PrefixIndex::insert`], and updates `told`. Otherwise, does nothing.
    fn remember(&mut self, sequence: usize, tokens: &[u32]) {
        todo!("week3-day5 task 3: SharedCache::remember")
    }
}

impl Pages for SharedCache {
    fn page_len(&self) -> usize {
        self.pages.page_len()
    }

    fn page_name(&self, sequence: usize, i: usize) -> usize {
        self.pages.page_name(sequence, i)
    }
}

impl KvCache for SharedCache {
    fn shape(&self) -> CacheShape {
        self.pages.shape()
    }

    fn len(&self, sequence: usize) -> usize {
        self.pages.len(sequence)
    }

    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        self.pages.write(layer, sequence, position, keys, values);
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        self.pages.runs(layer, sequence, head, positions)
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        self.pages.advance(sequence, position);
    }

    fn truncate(&mut self, sequence: usize, len: usize) {
        self.pages.truncate(sequence, len);
        self.told[sequence] = self.told[sequence].min(len / self.pages.page_len());
    }

    fn holds_q8(&self) -> bool {
        self.pages.holds_q8()
    }
}
