//! Day 5. Which pages hold the beginnings of texts, so that nobody computes them again.
//!
//! Tasks here: week3-day5 task 2 (`PrefixIndex::find`, `PrefixIndex::matching`,
//! `PrefixIndex::insert`, `PrefixIndex::evict`). Everything else is provided.

use std::collections::HashMap;

use super::{
    pool::{BlockPool, Page},
    prefix_hash::{HashPage, chain},
};

/// Full pages that may be shared, by the name of the text that ends in them. The index is an owner
/// of each of its pages: when the last sequence has let a page go, it stays until room is needed.
#[derive(Debug)]
pub struct PrefixIndex {
    fingerprint: u64,
    page_len: usize,
    hash: HashPage,
    entries: HashMap<u64, Entry>,
    /// The next entry's id. Ids are never used twice.
    next_id: u64,
    /// Counts uses, so that each has a moment of its own.
    clock: u64,
    counts: PrefixCounts,
}

/// A page of the index.
#[derive(Debug)]
struct Entry {
    /// This entry's id.
    id: u64,
    /// The entry of the page before; [`ROOT`] for a text's first page.
    parent: u64,
    /// The tokens of this page.
    tokens: Vec<u32>,
    page: Page,
    /// When it was last looked for and found, or inserted.
    used: u64,
}

/// What stands before a text's first page.
const ROOT: u64 = 0;

/// How much was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixCounts {
    /// Tokens of all texts that were looked for.
    pub asked: u64,
    /// Tokens that were found in pages.
    pub found: u64,
    /// Pages that were given up because room was needed.
    pub evicted: u64,
}

impl PrefixIndex {
    /// An empty index for texts of one model.
    #[must_use]
    pub fn new(fingerprint: u64, page_len: usize, hash: HashPage) -> Self {
        Self {
            fingerprint,
            page_len,
            hash,
            entries: HashMap::new(),
            next_id: ROOT + 1,
            clock: 0,
            counts: PrefixCounts::default(),
        }
    }

    /// How many pages it owns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it owns none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Provided. How many pages it could give up: those that no sequence owns.
    #[must_use]
    pub fn num_unowned(&self, pool: &BlockPool) -> usize {
        self.entries.values().filter(|entry| pool.num_owners(&entry.page) == 1).count()
    }

    /// How much was found so far.
    #[must_use]
    pub fn counts(&self) -> PrefixCounts {
        self.counts
    }

    /// The pages that hold the beginning of a text: from its first page on, as many as are there
    /// without a gap. The text's last token is never among them: the caller needs its logits, so it
    /// has to be computed.
    ///
    /// A name that is found proves nothing, since two texts may have the same one: a page counts
    /// only if its tokens are the text's, and if the page before it is the one that was found
    /// before it.
    ///
    /// Finding counts as using. Mark a text's pages from the last to the first, so that its first
    /// page is the one used most recently.
    pub fn find(&mut self, tokens: &[u32]) -> Vec<&Page> {
        todo!("week3-day5 task 2: PrefixIndex::find")
    }

    /// The names of the entries that the text begins with, each checked.
    fn matching(&self, tokens: &[u32]) -> Vec<u64> {
        todo!("week3-day5 task 2: PrefixIndex::matching")
    }

    /// Takes the full pages of a text whose keys and values have been computed: `table[i]` holds
    /// the tokens from `i · page_len` on. The index becomes an owner of those that it does not have
    /// yet. Where it has another text under the same name, that one stays, and what follows is not
    /// taken.
    ///
    /// Inserting counts as using, as finding does, for every page of the text that the index then
    /// has, those that it had before included. Mark them from the last to the first.
    pub fn insert(&mut self, tokens: &[u32], table: &[Page], pool: &mut BlockPool) {
        todo!("week3-day5 task 2: PrefixIndex::insert")
    }

    /// Gives up the page that was used longest ago, of those that no sequence owns. Returns whether
    /// there was one.
    pub fn evict(&mut self, pool: &mut BlockPool) -> bool {
        todo!("week3-day5 task 2: PrefixIndex::evict")
    }
}
