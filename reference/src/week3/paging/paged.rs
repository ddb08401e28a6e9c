//! Day 3. A paged cache: each sequence has only the pages that its positions need, and may share
//! pages with other sequences.
//!
//! Tasks here: week3-day3 task 2 (`PagedCache::write`, `PagedCache::truncate`,
//! `PagedCache::reserve`, `PagedCache::first_run`, `PagedCache::start`), week3-day3 task 3
//! (`PagedCache::fork`, `PagedCache::copy_page`). Everything else is provided.

use std::{iter, mem, ops::Range};

use super::{
    pool::{BlockPool, Page},
    reader::Pages,
    room::EngineCache,
};
use crate::week2::{
    cache::{CacheShape, CacheType, KvCache, Numbers, Run},
    kernels::vector::TILE,
};

/// Keys and values in pages of a fixed number of positions.
///
/// A page holds the keys and values of its positions for all layers and heads. So a sequence needs
/// only one list of pages, its *block table*, not one for each layer. But a page is not contiguous
/// in memory. For each layer and head, the corresponding parts of all pages are stored side by
/// side, because attention reads one head at a time. `runs` returns one [`Run`] for each page. The
/// runs of consecutively numbered pages are adjacent in memory.
#[derive(Debug)]
pub struct PagedCache {
    shape: CacheShape,
    /// Number of positions per page, a multiple of [`TILE`].
    page_len: usize,
    pool: BlockPool,
    /// The keys of all pages, `[layers, H, pages, page_len, D]`.
    keys: Numbers,
    /// The values of all pages, `[layers, H, pages, page_len, D]`.
    values: Numbers,
    /// `[sequences]`, the block table of each sequence. Page `i` of a table begins with the
    /// sequence's position `i · page_len`.
    tables: Vec<Vec<Page>>,
    /// `[sequences]`, how many positions of each sequence have been written in every layer.
    lengths: Vec<usize>,
    copied: usize,
    cache_type: CacheType,
}

impl KvCache for PagedCache {
    fn shape(&self) -> CacheShape {
        self.shape
    }

    fn len(&self, sequence: usize) -> usize {
        self.lengths[sequence]
    }

    /// Writes the keys and values of a position. First reserves the position if it isn't reserved
    /// yet, and copies its page if the page is shared.
    ///
    /// # Panics
    /// If the position needs a new page or a copy, and no page is free. Also in the cases that
    /// [`KvCache::write`] lists.
    fn write(
        &mut self,
        layer: usize,
        sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        // SOLUTION week3-day3 task 2
        let CacheShape { kv_heads, capacity, head_dim: d, .. } = self.shape;
        assert!(
            position < capacity,
            "position {position} is beyond the cache's {capacity} positions"
        );
        let (i, offset) = (position / self.page_len, position % self.page_len);
        if i >= self.tables[sequence].len() {
            let room = self.reserve(sequence, position + 1);
            assert!(room, "sequence {sequence}: no page is free for position {position}");
        }
        self.make_writable(sequence, i);
        let page = self.tables[sequence][i].index();
        for head in 0..kv_heads {
            let at = self.start(page, layer, head) + offset * d;
            self.keys.put(at, &keys[head * d..(head + 1) * d]);
            self.values.put(at, &values[head * d..(head + 1) * d]);
        }
        // END SOLUTION
    }

    fn runs(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        let mut left = positions;
        iter::from_fn(move || {
            if left.is_empty() {
                return None;
            }
            let run = self.first_run(layer, sequence, head, left.clone());
            assert!(
                run.start == left.start && run.len > 0,
                "`first_run` of {left:?}: expected a non-empty run from {} on, found {run:?}",
                left.start
            );
            self.prefetch_page_after(layer, sequence, head, left.start / self.page_len);
            left.start += run.len;
            Some(run)
        })
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        let next = &mut self.lengths[sequence];
        assert!(
            position == *next,
            "sequence {sequence}: found position {position}, expected {next}"
        );
        *next += 1;
    }

    /// Keeps the first `len` positions of a sequence. Releases all pages that hold none of these
    /// positions, including pages that were only reserved. Releases the pages in the order of their
    /// positions, so that the next sequence gets them in the same order.
    fn truncate(&mut self, sequence: usize, len: usize) {
        // SOLUTION week3-day3 task 2
        let len = len.min(self.lengths[sequence]);
        self.lengths[sequence] = len;
        for page in self.tables[sequence].drain(len.div_ceil(self.page_len)..) {
            self.pool.release(page);
        }
        // END SOLUTION
    }

    fn holds_q8(&self) -> bool {
        self.keys.holds_q8()
    }
}

impl Pages for PagedCache {
    fn page_len(&self) -> usize {
        self.page_len
    }

    fn page_name(&self, sequence: usize, i: usize) -> usize {
        self.tables[sequence][i].index()
    }
}

impl EngineCache for PagedCache {
    /// Reserves the first `len` positions of a sequence, and returns whether that was possible.
    /// Afterwards, each of these positions has a page. Every page that extends beyond the
    /// sequence's length belongs to this sequence alone. First copies such pages if they are
    /// shared, then allocates new pages.
    ///
    /// - If the sequence is already `len` positions long or longer, does nothing and returns true.
    /// - If `len` is beyond the capacity, changes nothing and returns false.
    /// - If too few pages are free for the copies and the new pages, changes nothing and returns
    ///   false.
    fn reserve(&mut self, sequence: usize, len: usize) -> bool {
        // SOLUTION week3-day3 task 2
        let (next, held) = (self.lengths[sequence], self.tables[sequence].len());
        if len <= next {
            return true;
        }
        let (first, end) = (next / self.page_len, len.div_ceil(self.page_len));
        let needed = end.saturating_sub(held) + self.num_shared(sequence, first..end);
        if len > self.shape.capacity || !self.pool.can_allocate(needed) {
            return false;
        }
        for i in first..end.min(held) {
            self.make_writable(sequence, i);
        }
        for _ in held..end {
            let page = self.pool.allocate().expect("a free page for each");
            self.tables[sequence].push(page);
        }
        true
        // END SOLUTION
    }

    fn pages_of_others(&self, sequence: usize) -> usize {
        self.pool.num_pages() - self.pool.num_free() - self.tables[sequence].len()
    }
}

impl PagedCache {
    /// Creates an empty cache with a pool of `pages` pages, each with `page_len` positions. All
    /// sequences share this pool, so a sequence's capacity is at most `pages · page_len`.
    ///
    /// # Panics
    /// If `page_len` is 0 or not a multiple of [`TILE`]. Every run except the last must end at a
    /// multiple of `TILE`.
    #[must_use]
    pub fn new(shape: CacheShape, page_len: usize, pages: usize, cache_type: CacheType) -> Self {
        assert!(
            page_len > 0 && page_len.is_multiple_of(TILE),
            "a page holds {page_len} positions; expected a multiple of {TILE}"
        );
        let numbers = pages * numbers_of_a_page(shape, page_len);
        let capacity = shape.capacity.min(pages * page_len);
        Self {
            shape: CacheShape { capacity, ..shape },
            page_len,
            pool: BlockPool::new(pages),
            keys: Numbers::new(numbers, shape.head_dim, cache_type),
            values: Numbers::new(numbers, shape.head_dim, cache_type),
            tables: (0..shape.sequences).map(|_| Vec::new()).collect(),
            lengths: vec![0; shape.sequences],
            copied: 0,
            cache_type,
        }
    }

    /// Returns the number of positions per page.
    #[must_use]
    pub fn page_len(&self) -> usize {
        self.page_len
    }

    /// Returns the pool that the pages come from.
    #[must_use]
    pub fn pool(&self) -> &BlockPool {
        &self.pool
    }

    /// Returns the pages of a sequence, in the order of its positions.
    pub fn table(&self, sequence: usize) -> &[Page] {
        &self.tables[sequence]
    }

    /// Returns the pool, mutably, so that the caller can retain and release pages.
    pub fn pool_mut(&mut self) -> &mut BlockPool {
        &mut self.pool
    }

    /// Returns the pool, mutably, and a sequence's pages in the order of its positions.
    pub fn pool_and_table(&mut self, sequence: usize) -> (&mut BlockPool, &[Page]) {
        (&mut self.pool, &self.tables[sequence])
    }

    /// Attaches full pages to an empty sequence. The sequence takes over the handles in `pages`.
    ///
    /// # Panics
    /// If the sequence already has pages.
    pub fn attach(&mut self, sequence: usize, pages: Vec<Page>) {
        let table = &mut self.tables[sequence];
        assert!(table.is_empty(), "sequence {sequence} is in use: truncate it to 0 first");
        self.lengths[sequence] = pages.len() * self.page_len;
        *table = pages;
    }

    /// Returns how many times a shared page was copied so that a sequence could write to it.
    #[must_use]
    pub fn copied(&self) -> usize {
        self.copied
    }

    /// Returns the size in bytes of one page's keys and values.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        2 * layers * kv_heads * self.page_len * self.cache_type.row_bytes(head_dim)
    }

    /// Shares all positions of the sequence `from` with the empty sequence `to`, without copying
    /// them. Every page that holds some of these positions gets one more owner. This includes the
    /// last page, which may be only partly full. The first sequence that writes into a shared page
    /// gets its own copy.
    ///
    /// # Panics
    /// If `to` already has pages.
    pub fn fork(&mut self, from: usize, to: usize) {
        // SOLUTION week3-day3 task 3
        assert!(self.tables[to].is_empty(), "sequence {to} is in use: truncate it to 0 first");
        let len = self.lengths[from];
        let used = &self.tables[from][..len.div_ceil(self.page_len)];
        let shared = used.iter().map(|page| self.pool.retain(page)).collect();
        self.tables[to] = shared;
        self.lengths[to] = len;
        // END SOLUTION
    }

    /// Replaces page `i` of a sequence with a copy of the page's keys and values in all layers and
    /// heads. Counts the copy in `copied`. The page's other owners keep the original.
    ///
    /// # Panics
    /// If no page is free.
    fn copy_page(&mut self, sequence: usize, i: usize) {
        // SOLUTION week3-day3 task 3
        let copy = self.pool.allocate();
        let copy = copy.unwrap_or_else(|| panic!("sequence {sequence}: no page is free to copy"));
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        let numbers = self.page_len * head_dim;
        for layer in 0..layers {
            for head in 0..kv_heads {
                let from = self.start(self.tables[sequence][i].index(), layer, head);
                let to = self.start(copy.index(), layer, head);
                self.keys.copy(from, to, numbers);
                self.values.copy(from, to, numbers);
            }
        }
        let shared = mem::replace(&mut self.tables[sequence][i], copy);
        self.pool.release(shared);
        self.copied += 1;
        // END SOLUTION
    }

    /// Makes page `i` of a sequence writable: copies the page if it has other owners.
    fn make_writable(&mut self, sequence: usize, i: usize) {
        if self.pool.num_owners(&self.tables[sequence][i]) > 1 {
            self.copy_page(sequence, i);
        }
    }

    /// Provided. Returns how many of a sequence's pages have more than one owner. Counts only the
    /// pages in the range `pages`, which may go beyond the sequence's last page.
    pub fn num_shared(&self, sequence: usize, pages: Range<usize>) -> usize {
        let held = self.tables[sequence].iter().take(pages.end).skip(pages.start);
        held.filter(|page| self.pool.num_owners(page) > 1).count()
    }

    /// Returns the first run of a sequence's `positions`, for one layer and head. The run ends at
    /// the end of the first position's page or at the end of `positions`, whichever comes first.
    ///
    /// # Panics
    /// If no page holds the first position, or the layer or the head is not in the cache.
    fn first_run(
        &self,
        layer: usize,
        sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> Run<'_> {
        // SOLUTION week3-day3 task 2
        let Range { start, end } = positions;
        let (i, offset) = (start / self.page_len, start % self.page_len);
        let table = &self.tables[sequence];
        assert!(i < table.len(), "position {start} of sequence {sequence} has no page");
        let (len, d) = ((end - start).min(self.page_len - offset), self.shape.head_dim);
        let at = self.start(table[i].index(), layer, head) + offset * d;
        let (keys, values) = (self.keys.get(at, len * d), self.values.get(at, len * d));
        Run { start, len, keys, values }
        // END SOLUTION
    }

    /// Prefetches a head's keys and values in page `i + 1` of a sequence, if the sequence has that
    /// page. Page `i + 1` is read right after page `i`. The processor can predict its address only
    /// if the two pages have consecutive numbers in the pool.
    fn prefetch_page_after(&self, layer: usize, sequence: usize, head: usize, i: usize) {
        let [page, next] = &self.tables[sequence][i..self.tables[sequence].len().min(i + 2)] else {
            return;
        };
        let in_a_row = next.index() == page.index() + 1;
        let at = self.start(next.index(), layer, head);
        let numbers = self.page_len * self.shape.head_dim;
        self.keys.prefetch(at, numbers, in_a_row);
        self.values.prefetch(at, numbers, in_a_row);
    }

    /// Returns where a page's part for one layer and head begins, as an index in [`Numbers`].
    /// `page` is the page's number in the pool.
    ///
    /// # Panics
    /// If the layer or the head is not in the cache.
    fn start(&self, page: usize, layer: usize, head: usize) -> usize {
        // SOLUTION week3-day3 task 2
        let CacheShape { layers, kv_heads, head_dim, .. } = self.shape;
        assert!(
            layer < layers && head < kv_heads,
            "layer {layer} or head {head} is not in the cache {:?}",
            self.shape
        );
        let place = (layer * kv_heads + head) * self.pool.num_pages() + page;
        place * self.page_len * head_dim
        // END SOLUTION
    }
}

/// Returns the number of elements in one page's keys. The page's values have as many.
fn numbers_of_a_page(shape: CacheShape, page_len: usize) -> usize {
    shape.layers * shape.kv_heads * page_len * shape.head_dim
}
