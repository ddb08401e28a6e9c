//! Day 3. The pool of pages: the list of free pages, and the number of owners of each page.
//!
//! Tasks here: week3-day3 task 1 (`BlockPool::can_allocate`, `BlockPool::allocate`,
//! `BlockPool::retain`, `BlockPool::release`). Everything else is provided.

use std::collections::VecDeque;

/// One owner's handle to a page of a [`BlockPool`]. A handle can't be copied or cloned. A second
/// owner gets a handle from [`BlockPool::retain`], and [`BlockPool::release`] consumes a handle. So
/// code that releases a page twice, or uses it after releasing it, does not compile.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a page whose handle is lost is never free again: release it"]
pub struct Page(usize);

impl Page {
    /// Returns the page's number in the pool, from 0 on.
    #[must_use]
    pub fn index(&self) -> usize {
        self.0
    }
}

/// A fixed number of pages, which are allocated to owners. The pool does not know what the pages
/// contain.
///
/// At any time, each page either is in the free list exactly once, or has owners. An owned page has
/// as many owners as there are handles to it.
#[derive(Debug)]
pub struct BlockPool {
    /// `[pages]`, the number of owners of each page.
    counts: Vec<u32>,
    /// The numbers of the pages without an owner. The page that has been free longest is first.
    free: VecDeque<usize>,
}

impl BlockPool {
    /// Creates `pages` pages, all free, in the order of their numbers.
    #[must_use]
    pub fn new(pages: usize) -> Self {
        Self { counts: vec![0; pages], free: (0..pages).collect() }
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn num_pages(&self) -> usize {
        self.counts.len()
    }

    /// Returns the number of free pages.
    #[must_use]
    pub fn num_free(&self) -> usize {
        self.free.len()
    }

    /// Returns the number of owners of the page that this handle is for.
    ///
    /// # Panics
    /// If this pool has no page with this number, because the handle comes from a larger pool.
    #[must_use]
    pub fn num_owners(&self, page: &Page) -> usize {
        self.counts[page.0] as usize
    }

    /// Returns how many owners page number `index` has.
    ///
    /// # Panics
    /// If there is no such page.
    #[must_use]
    pub fn num_owners_of(&self, index: usize) -> usize {
        self.counts[index] as usize
    }

    /// Returns whether `pages` pages can be allocated.
    #[must_use]
    pub fn can_allocate(&self, pages: usize) -> bool {
        todo!("week3-day3 task 1: BlockPool::can_allocate")
    }

    /// Allocates the page that has been free longest, and returns its first owner's handle. Returns
    /// `None` if no page is free.
    pub fn allocate(&mut self) -> Option<Page> {
        todo!("week3-day3 task 1: BlockPool::allocate")
    }

    /// Adds an owner to a page, and returns the new owner's handle.
    ///
    /// # Panics
    /// If the page has no owner, which means that the handle comes from another pool.
    pub fn retain(&mut self, page: &Page) -> Page {
        todo!("week3-day3 task 1: BlockPool::retain")
    }

    /// Releases an owner's handle to a page. The page is free again once it has no owner.
    ///
    /// # Panics
    /// If the page has no owner, which means that the handle comes from another pool.
    #[allow(clippy::needless_pass_by_value, reason = "the owner must not keep its handle")]
    pub fn release(&mut self, page: Page) {
        todo!("week3-day3 task 1: BlockPool::release")
    }
}
