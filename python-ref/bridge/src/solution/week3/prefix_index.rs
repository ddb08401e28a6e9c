//! Day 5: an index of pages.

use super::rust::{
    pool::{BlockPool, Page},
    prefix_hash::{HashPage, hash_page},
    prefix_index as rust,
};
use crate::prelude::*;

exports! { class PrefixIndex; }

/// An index, and the pool that its pages come from.
struct Shelf {
    index: rust::PrefixIndex,
    pool: BlockPool,
}

/// A pool of pages, and an index of those that hold prefixes of texts. With `collide`, there are
/// only four different names, so that pages collide.
#[pyclass]
pub(crate) struct PrefixIndex {
    shelf: Kept<Shelf>,
    pages: usize,
    page_len: usize,
}

#[pymethods]
impl PrefixIndex {
    #[new]
    #[pyo3(signature = (pages, page_len, collide=false))]
    fn new(pages: Count, page_len: Count, collide: bool) -> PyResult<Self> {
        let (pages, page_len) = (pages.0, page_len.0);
        at_least_one("page_len", page_len)?;
        room("the pool", &[pages, 16])?;
        let hash: HashPage =
            if collide { |before, tokens| hash_page(before, tokens) & 3 } else { hash_page };
        let index = rust::PrefixIndex::new(1, page_len, hash);
        let shelf = Shelf { index, pool: BlockPool::new(pages) };
        Ok(Self { shelf: Kept::new(shelf), pages, page_len })
    }

    /// Adds the full pages of `tokens [L]` to the index, as if a sequence had computed them and
    /// ended. Returns the indices of these pages, or None if too few pages are free.
    fn compute(&self, tokens: Ids<1>) -> PyResult<Option<Vec<usize>>> {
        let (tokens, page_len) = (tokens.to_vec(), self.page_len);
        self.shelf.call(move |Shelf { index, pool }| {
            let n = tokens.len() / page_len;
            if !pool.can_allocate(n) {
                return None;
            }
            let table: Vec<Page> = (0..n).filter_map(|_| pool.allocate()).collect();
            let numbers = table.iter().map(Page::index).collect();
            index.insert(&tokens, &table, pool);
            table.into_iter().for_each(|page| pool.release(page));
            Some(numbers)
        })
    }

    /// Returns the indices of the pages that hold a prefix of `tokens [L]`.
    fn find(&self, tokens: Ids<1>) -> PyResult<Vec<usize>> {
        let tokens = tokens.to_vec();
        self.shelf
            .call(move |shelf| shelf.index.find(&tokens).into_iter().map(Page::index).collect())
    }

    /// Evicts the least recently used page. Returns whether there was one.
    fn evict(&self) -> PyResult<bool> {
        self.shelf.call(|Shelf { index, pool }| index.evict(pool))
    }

    /// Returns the number of pages in the index, and the number of free pages.
    fn counts(&self) -> PyResult<(usize, usize)> {
        self.shelf.call(|shelf| (shelf.index.len(), shelf.pool.num_free()))
    }

    fn __repr__(&self) -> String {
        format!("PrefixIndex({}, {})", self.pages, self.page_len)
    }
}
