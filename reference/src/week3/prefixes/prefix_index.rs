//! Day 5. An index of the pages that hold prefixes of texts, so that these prefixes are not
//! computed again.
//!
//! Tasks here: week3-day5 task 2 (`PrefixIndex::find`, `PrefixIndex::matching`,
//! `PrefixIndex::insert`, `PrefixIndex::evict`). Everything else is provided.

use std::collections::HashMap;

use super::{
    pool::{BlockPool, Page},
    prefix_hash::{HashPage, chain},
};

/// An index of full pages that may be shared. A page's key is the name of the prefix that ends with
/// that page. The index is an owner of each of its pages. So a page stays even when no sequence
/// owns it any longer, until the index evicts it to make room.
#[derive(Debug)]
pub struct PrefixIndex {
    fingerprint: u64,
    page_len: usize,
    hash: HashPage,
    entries: HashMap<u64, Entry>,
    /// The next entry's id. Ids are never used twice.
    next_id: u64,
    /// A logical clock, which advances each time a page is used.
    clock: u64,
    counts: PrefixCounts,
}

/// The index's entry for one page.
#[derive(Debug)]
struct Entry {
    /// This entry's id.
    id: u64,
    /// The id of the previous page's entry, or [`ROOT`] for a text's first page.
    parent: u64,
    /// The tokens of this page.
    tokens: Vec<u32>,
    page: Page,
    /// The time on `clock` at which the page was last found or inserted.
    used: u64,
}

/// The `parent` of a text's first page, which has no previous page.
const ROOT: u64 = 0;

/// Counters of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrefixCounts {
    /// Number of tokens that were looked up.
    pub asked: u64,
    /// Number of looked-up tokens that were found in pages of the index.
    pub found: u64,
    /// Number of pages that were evicted to make room.
    pub evicted: u64,
}

impl PrefixIndex {
    /// Creates an empty index for the texts of one model, which `fingerprint` identifies.
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

    /// Returns the number of pages that the index owns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the index owns no pages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Provided. Returns the number of pages that the index could evict: those that no sequence
    /// owns.
    #[must_use]
    pub fn num_unowned(&self, pool: &BlockPool) -> usize {
        self.entries.values().filter(|entry| pool.num_owners(&entry.page) == 1).count()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counts(&self) -> PrefixCounts {
        self.counts
    }

    /// Returns the pages that hold the beginning of the text `tokens`, up to the first page that
    /// the index lacks. The text's last token is never in these pages. It must be computed, because
    /// the caller needs its logits.
    ///
    /// Two different prefixes may have the same name, so a name alone proves nothing. A page
    /// matches only if its tokens are the text's, and its parent is the page found just before it.
    ///
    /// Finding a page counts as a use. Set `used` of the pages in reverse order, so that the text's
    /// first page is the most recently used.
    ///
    /// Adds the text's length to `counts.asked`, and the number of tokens found to `counts.found`.
    pub fn find(&mut self, tokens: &[u32]) -> Vec<&Page> {
        // SOLUTION week3-day5 task 2
        let wanted = &tokens[..tokens.len().saturating_sub(1)];
        let names = self.matching(wanted);
        self.counts.asked += tokens.len() as u64;
        self.counts.found += (names.len() * self.page_len) as u64;
        for name in names.iter().rev() {
            self.clock += 1;
            self.entries.get_mut(name).expect("it matches").used = self.clock;
        }
        names.iter().map(|name| &self.entries[name].page).collect()
        // END SOLUTION
    }

    /// Returns the names of the entries that hold the beginning of `tokens`, up to the first full
    /// page that the index lacks. Checks the tokens and the parent of each entry. Unlike `find`,
    /// may include a page that ends with the text's last token.
    fn matching(&self, tokens: &[u32]) -> Vec<u64> {
        // SOLUTION week3-day5 task 2
        let names = chain(self.fingerprint, tokens, self.page_len, self.hash);
        let mut parent = ROOT;
        let mut found = Vec::new();
        for (name, page) in names.into_iter().zip(tokens.chunks_exact(self.page_len)) {
            match self.entries.get(&name) {
                Some(entry) if entry.parent == parent && entry.tokens == page => {
                    parent = entry.id;
                    found.push(name);
                }
                _ => break,
            }
        }
        found
        // END SOLUTION
    }

    /// Inserts the full pages of the text `tokens`, whose keys and values have been computed.
    /// `table[i]` is the page for the tokens from `i · page_len` on. The pages that `matching`
    /// finds are in the index already, and their entries stay as they are. The index becomes an
    /// owner of each later full page. If another entry already has the name of such a page, that
    /// entry stays, and insertion stops: neither this page nor any later page of the text is
    /// inserted.
    ///
    /// Inserting counts as a use of all the text's pages, whether new or already there. Set `used`
    /// of these pages in reverse order. If insertion stopped, count only the pages before the stop:
    /// the entry at which it stopped keeps its `used`.
    pub fn insert(&mut self, tokens: &[u32], table: &[Page], pool: &mut BlockPool) {
        // SOLUTION week3-day5 task 2
        let mut known = self.matching(tokens);
        let mut parent = known.last().map_or(ROOT, |name| self.entries[name].id);
        let names = chain(self.fingerprint, tokens, self.page_len, self.hash);
        let pages = names.into_iter().zip(tokens.chunks_exact(self.page_len)).zip(table);
        for ((name, tokens), page) in pages.skip(known.len()) {
            if self.entries.contains_key(&name) {
                break;
            }
            let (id, page) = (self.next_id, pool.retain(page));
            self.next_id += 1;
            self.entries.insert(name, Entry { id, parent, tokens: tokens.to_vec(), page, used: 0 });
            known.push(name);
            parent = id;
        }
        for name in known.iter().rev() {
            self.clock += 1;
            self.entries.get_mut(name).expect("it is there").used = self.clock;
        }
        // END SOLUTION
    }

    /// Evicts the least recently used page that no sequence owns, and counts it in
    /// `counts.evicted`. Returns whether there was such a page.
    pub fn evict(&mut self, pool: &mut BlockPool) -> bool {
        // SOLUTION week3-day5 task 2
        let unowned = self.entries.iter().filter(|(_, entry)| pool.num_owners(&entry.page) == 1);
        let oldest = unowned.min_by_key(|(_, entry)| entry.used).map(|(name, _)| *name);
        let Some(entry) = oldest.and_then(|name| self.entries.remove(&name)) else { return false };
        pool.release(entry.page);
        self.counts.evicted += 1;
        true
        // END SOLUTION
    }
}
