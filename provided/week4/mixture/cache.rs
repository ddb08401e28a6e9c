//! Day 6. A paged cache for one sequence. Layers with a sliding window return pages to the pool.

use std::ops::Range;

use crate::week4::mixture::windows::{PageTable, visible};
use crate::{
    week2::{
        cache::{CacheShape, CacheType, KvCache, Numbers, Run},
        kernels::vector::TILE,
    },
    week3::pool::BlockPool,
};

/// Number of positions in a page.
pub const PAGE: usize = TILE;

/// Keys and values of one sequence. Every layer has its own pages, which come from one pool.
#[derive(Debug)]
pub struct WindowedCache {
    shape: CacheShape,
    /// Keys, `[pages, H, PAGE, D]`.
    keys: Numbers,
    values: Numbers,
    tables: Vec<PageTable>,
    pool: BlockPool,
    len: usize,
    most: usize,
}

impl WindowedCache {
    /// Creates a cache for one sequence of at most `shape.capacity` positions. A pass adds at most
    /// `chunk` positions. `windows` holds the window of each layer: the number of positions that a
    /// row sees, or `None` if it sees all.
    #[must_use]
    pub fn new(
        shape: CacheShape,
        windows: &[Option<usize>],
        chunk: usize,
        cache_type: CacheType,
    ) -> Self {
        let room = |window: &Option<usize>| {
            // Room for the chunk, the window before it, and the unused parts of two pages.
            let positions = window.map_or(shape.capacity, |w| shape.capacity.min(w + chunk));
            shape.capacity.div_ceil(PAGE).min(positions.div_ceil(PAGE) + 1)
        };
        let pages = windows.iter().map(room).sum();
        let numbers = pages * shape.kv_heads * PAGE * shape.head_dim;
        Self {
            shape,
            keys: Numbers::new(numbers, shape.head_dim, cache_type),
            values: Numbers::new(numbers, shape.head_dim, cache_type),
            tables: windows.iter().map(|&window| PageTable::new(window, PAGE)).collect(),
            pool: BlockPool::new(pages),
            len: 0,
            most: 0,
        }
    }

    /// Returns how many pages are in use, in all layers.
    #[must_use]
    pub fn pages_in_use(&self) -> usize {
        self.pool.num_pages() - self.pool.num_free()
    }

    /// Returns the largest number of pages that were in use after a call to [`KvCache::advance`].
    #[must_use]
    pub fn most_pages(&self) -> usize {
        self.most
    }

    /// Returns the number of pages in the pool.
    #[must_use]
    pub fn num_pages(&self) -> usize {
        self.pool.num_pages()
    }

    /// Returns whether the text can continue at position `len`. It can if the cache still holds all
    /// positions that a row at `len` sees.
    #[must_use]
    pub fn reaches(&self, len: usize) -> bool {
        len == 0
            || self.tables.iter().all(|table| visible(len, table.window).start >= table.gone * PAGE)
    }

    /// Returns the index in [`Numbers`] at which a head's elements for a position begin.
    fn at(&self, layer: usize, head: usize, position: usize) -> usize {
        let (page, place) = self.tables[layer]
            .find(position)
            .unwrap_or_else(|| panic!("layer {layer}: position {position} is in no page"));
        ((page * self.shape.kv_heads + head) * PAGE + place) * self.shape.head_dim
    }
}

impl KvCache for WindowedCache {
    fn shape(&self) -> CacheShape {
        self.shape
    }

    fn len(&self, _sequence: usize) -> usize {
        self.len
    }

    fn write(
        &mut self,
        layer: usize,
        _sequence: usize,
        position: usize,
        keys: &[f32],
        values: &[f32],
    ) {
        let capacity = self.shape.capacity;
        assert!(
            position < capacity,
            "position {position} is beyond the cache's {capacity} positions"
        );
        let has_page = self.tables[layer].reserve(position, &mut self.pool);
        assert!(has_page, "layer {layer}, position {position}: no page is free");
        let heads = keys.chunks_exact(self.shape.head_dim);
        for (head, (k, v)) in heads.zip(values.chunks_exact(self.shape.head_dim)).enumerate() {
            let at = self.at(layer, head, position);
            self.keys.put(at, k);
            self.values.put(at, v);
        }
    }

    fn runs(
        &self,
        layer: usize,
        _sequence: usize,
        head: usize,
        positions: Range<usize>,
    ) -> impl Iterator<Item = Run<'_>> + Clone {
        let pages = positions.start / PAGE..positions.end.div_ceil(PAGE);
        pages.filter_map(move |page| {
            let start = positions.start.max(page * PAGE);
            let len = positions.end.min((page + 1) * PAGE).checked_sub(start).filter(|&n| n > 0)?;
            let (at, n) = (self.at(layer, head, start), len * self.shape.head_dim);
            Some(Run { start, len, keys: self.keys.get(at, n), values: self.values.get(at, n) })
        })
    }

    fn advance(&mut self, sequence: usize, position: usize) {
        assert!(
            position == self.len,
            "sequence {sequence}: found position {position}, expected {}",
            self.len
        );
        self.len += 1;
        for table in &mut self.tables {
            table.slide(self.len, &mut self.pool);
        }
        self.most = self.most.max(self.pages_in_use());
    }

    /// Truncates the sequence to `len` positions. Pages that were returned to the pool can't be
    /// restored. If [`WindowedCache::reaches`] returns false for `len`, the caller must truncate to
    /// 0.
    fn truncate(&mut self, _sequence: usize, len: usize) {
        if len == 0 {
            self.tables.iter_mut().for_each(|table| table.clear(&mut self.pool));
        }
        self.len = self.len.min(len);
    }

    fn holds_q8(&self) -> bool {
        self.keys.holds_q8()
    }
}
