//! Day 3: a pool of pages. Python can't consume a handle when it is released, so handles are stored
//! here under numbers.

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

/// A fixed number of pages, allocated to owners. Each owner holds a handle, a number never reused.
#[pyclass]
pub(crate) struct BlockPool {
    lent: Kept<Lent>,
    pages: usize,
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

    /// Returns the number of free pages.
    fn num_free(&self) -> PyResult<usize> {
        self.lent.call(|lent| lent.pool.num_free())
    }

    /// Returns whether this many pages can be allocated.
    fn can_allocate(&self, pages: Count) -> PyResult<bool> {
        self.lent.call(move |lent| lent.pool.can_allocate(pages.0))
    }

    /// Allocates a free page and returns a handle to it, or None if no page is free.
    fn allocate(&self) -> PyResult<Option<usize>> {
        self.lent.call(|lent| {
            let page = lent.pool.allocate();
            page.map(|page| lent.keep(page))
        })
    }

    /// Returns another handle to the same page.
    fn retain(&self, handle: Count) -> PyResult<usize> {
        self.on(handle, |lent, handle| {
            let other = lent.pool.retain(lent.handles.get(&handle)?);
            Some(lent.keep(other))
        })
    }

    /// Releases a handle.
    fn release(&self, handle: Count) -> PyResult<()> {
        self.on(handle, |lent, handle| {
            lent.pool.release(lent.handles.remove(&handle)?);
            Some(())
        })
    }

    /// Returns the index of a handle's page, and how many owners the page has.
    fn page(&self, handle: Count) -> PyResult<(usize, usize)> {
        self.on(handle, |lent, handle| {
            let page = lent.handles.get(&handle)?;
            Some((page.index(), lent.pool.num_owners(page)))
        })
    }

    fn __repr__(&self) -> String {
        format!("BlockPool({})", self.pages)
    }
}

impl BlockPool {
    /// Calls `act` with a handle. Rejects a handle that does not exist or was released.
    fn on<R: Send + 'static>(
        &self,
        handle: Count,
        act: impl FnOnce(&mut Lent, usize) -> Option<R> + Send + 'static,
    ) -> PyResult<R> {
        let found = self.lent.call(move |lent| act(lent, handle.0))?;
        found.ok_or_else(|| wrong("handle", handle.0, "a handle that has not been released"))
    }
}
