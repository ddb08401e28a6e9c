//! Day 3: a pool of pages. Python has no handle that is gone once it is given back, so handles stay
//! here under a number.

use std::collections::BTreeMap;

use super::rust::pool as rust;
use crate::prelude::*;

exports! { class BlockPool; }

struct Lent {
    pool: rust::BlockPool,
    handles: BTreeMap<usize, rust::Page>,
    next: usize,
}

impl Lent {
    fn keep(&mut self, page: rust::Page) -> usize {
        self.handles.insert(self.next, page);
        self.next += 1;
        self.next - 1
    }
}

/// A fixed number of pages, lent to owners. A handle is a number that is never used twice.
#[pyclass]
pub(crate) struct BlockPool {
    lent: Kept<Lent>,
    pages: usize,
}

/// A handle that nobody has.
fn unknown(handle: usize) -> PyErr {
    wrong("handle", handle, "a handle that has not been released")
}

#[pymethods]
impl BlockPool {
    #[new]
    fn new(pages: Count) -> PyResult<Self> {
        let pages = pages.0;
        room("the pages", &[pages, 4])?;
        let (pool, handles) = (rust::BlockPool::new(pages), BTreeMap::new());
        Ok(Self { lent: Kept::new(Lent { pool, handles, next: 0 }), pages })
    }

    /// How many pages are free.
    fn num_free(&self) -> PyResult<usize> {
        self.lent.call(|lent| lent.pool.num_free())
    }

    /// Whether so many pages can be allocated.
    fn can_allocate(&self, pages: Count) -> PyResult<bool> {
        self.lent.call(move |lent| lent.pool.can_allocate(pages.0))
    }

    /// A handle of a page that was free, if there is one.
    fn allocate(&self) -> PyResult<Option<usize>> {
        self.lent.call(|lent| {
            let page = lent.pool.allocate();
            page.map(|page| lent.keep(page))
        })
    }

    /// Another handle of the same page.
    fn retain(&self, handle: Count) -> PyResult<usize> {
        let handle = handle.0;
        let other = self.lent.call(move |lent| {
            let page = lent.handles.get(&handle)?;
            let other = lent.pool.retain(page);
            Some(lent.keep(other))
        })?;
        other.ok_or_else(|| unknown(handle))
    }

    /// Gives a handle back.
    fn release(&self, handle: Count) -> PyResult<()> {
        let handle = handle.0;
        let found = self.lent.call(move |lent| {
            let page = lent.handles.remove(&handle)?;
            lent.pool.release(page);
            Some(())
        })?;
        found.ok_or_else(|| unknown(handle))
    }

    /// The number of a handle's page, and how many owners that has.
    fn page(&self, handle: Count) -> PyResult<(usize, usize)> {
        let handle = handle.0;
        let found = self.lent.call(move |lent| {
            let page = lent.handles.get(&handle)?;
            Some((page.index(), lent.pool.num_owners(page)))
        })?;
        found.ok_or_else(|| unknown(handle))
    }

    fn __repr__(&self) -> String {
        format!("BlockPool({})", self.pages)
    }
}
