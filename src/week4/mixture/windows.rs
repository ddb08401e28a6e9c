//! Day 6. Sliding windows: the positions that a row sees, and the pages of the cache that are no
//! longer needed.
//!
//! Tasks here: week4-day6 task 4 (`visible`, `pages_out`, `PageTable::find`, `PageTable::slide`).
//! Everything else is provided.

use std::{collections::VecDeque, ops::Range};

use crate::week3::pool::{BlockPool, Page};

/// Returns the positions that the row at `position` sees. Without a window, it sees all positions
/// up to and including its own. With a window, it sees only the last `window` of them.
#[must_use]
pub fn visible(position: usize, window: Option<usize>) -> Range<usize> {
    todo!("week4-day6 task 4: visible")
}

/// Returns how many pages at the start of a sequence are no longer needed. A page is not needed if
/// the row at `next` and all later rows see none of its positions. Each page holds `page_len`
/// positions.
#[must_use]
pub fn pages_out(next: usize, window: Option<usize>, page_len: usize) -> usize {
    todo!("week4-day6 task 4: pages_out")
}

/// The pages of one sequence in one layer's cache.
#[derive(Debug)]
pub struct PageTable {
    /// Number of positions that a row of this layer sees, or `None` if it sees all.
    pub window: Option<usize>,
    /// Number of positions per page.
    pub page_len: usize,
    /// Number of pages at the start of the sequence that have been released to the pool.
    pub gone: usize,
    /// The remaining pages, in the order of their positions.
    pub pages: VecDeque<Page>,
}

impl PageTable {
    /// Creates a table without pages.
    #[must_use]
    pub fn new(window: Option<usize>, page_len: usize) -> Self {
        Self { window, page_len, gone: 0, pages: VecDeque::new() }
    }

    /// Finds the page that holds a position. Returns the page's number in the pool, and the
    /// position's index within the page. Returns `None` if the position has no page yet, or no
    /// longer has one.
    #[must_use]
    pub fn find(&self, position: usize) -> Option<(usize, usize)> {
        todo!("week4-day6 task 4: PageTable::find")
    }

    /// Allocates pages until `position` has a page. All earlier positions then have pages too,
    /// unless their pages have been released. Returns false if the pool has no free page.
    pub fn reserve(&mut self, position: usize, pool: &mut BlockPool) -> bool {
        while self.gone + self.pages.len() <= position / self.page_len {
            let Some(page) = pool.allocate() else { return false };
            self.pages.push_back(page);
        }
        true
    }

    /// Releases to the pool every page that neither the row at `next` nor any later row needs. Does
    /// nothing if `next` is smaller than in an earlier call, because released pages can't be
    /// restored.
    pub fn slide(&mut self, next: usize, pool: &mut BlockPool) {
        todo!("week4-day6 task 4: PageTable::slide")
    }

    /// Releases all pages to the pool.
    pub fn clear(&mut self, pool: &mut BlockPool) {
        self.pages.drain(..).for_each(|page| pool.release(page));
        self.gone = 0;
    }
}
