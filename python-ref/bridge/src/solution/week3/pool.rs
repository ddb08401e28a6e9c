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
        self.on(handle, |lent, handle| {
            let other = lent.pool.retain(lent.handles.get(&handle)?);
            Some(lent.keep(other))
        })
    }

    /// Gives a handle back.
    fn release(&self, handle: Count) -> PyResult<()> {
        self.on(handle, |lent, handle| {
            lent.pool.release(lent.handles.remove(&handle)?);
            Some(())
        })
    }

    /// The number of a handle's page, and how many owners that has.
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
    /// Does something with a handle, unless nobody has it.
    fn on<R: Send + 'static>(
        &self,
        handle: Count,
        act: impl FnOnce(&mut Lent, usize) -> Option<R> + Send + 'static,
    ) -> PyResult<R> {
        let found = self.lent.call(move |lent| act(lent, handle.0))?;
        found.ok_or_else(|| wrong("handle", handle.0, "a handle that has not been released"))
    }
}
