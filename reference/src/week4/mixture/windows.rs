//! Day 6. Sliding windows: what a position sees, and which pages of the cache nobody will look at
//! again.
//!
//! Tasks here: week4-day6 task 4 (`visible`, `pages_out`, `PageTable::find`, `PageTable::slide`).
//! Everything else is provided.

use std::{collections::VecDeque, ops::Range};

use crate::week3::pool::{BlockPool, Page};

/// The positions that the row at `position` sees: all up to its own, or the last `window` of them,
/// its own included.
#[must_use]
pub fn visible(position: usize, window: Option<usize>) -> Range<usize> {
    // SOLUTION week4-day6 task 4
    let start = window.map_or(0, |window| (position + 1).saturating_sub(window));
    start..position + 1
    // END SOLUTION
}

/// How many pages, counted from the first, hold only positions that neither the row at `next` nor
/// any later row sees. A page holds `page_len` positions.
#[must_use]
pub fn pages_out(next: usize, window: Option<usize>, page_len: usize) -> usize {
    // SOLUTION week4-day6 task 4
    visible(next, window).start / page_len
    // END SOLUTION
}

/// The pages of one layer.
#[derive(Debug)]
pub struct PageTable {
    /// Positions that a row of this layer sees; all, if there is none.
    pub window: Option<usize>,
    /// Positions of a page.
    pub page_len: usize,
    /// How many pages have been given back.
    pub gone: usize,
    /// Those that it still has, in the order of their positions.
    pub pages: VecDeque<Page>,
}

impl PageTable {
    /// One without pages.
    #[must_use]
    pub fn new(window: Option<usize>, page_len: usize) -> Self {
        Self { window, page_len, gone: 0, pages: VecDeque::new() }
    }

    /// The page of a position, by its number in the pool, and the position's place in it; none if
    /// it has no page yet, or not any more.
    #[must_use]
    pub fn find(&self, position: usize) -> Option<(usize, usize)> {
        // SOLUTION week4-day6 task 4
        let number = (position / self.page_len).checked_sub(self.gone)?;
        Some((self.pages.get(number)?.index(), position % self.page_len))
        // END SOLUTION
    }

    /// Makes sure that a position has a page, and all pages before it that are not gone; false if
    /// the pool has none left.
    pub fn reserve(&mut self, position: usize, pool: &mut BlockPool) -> bool {
        while self.gone + self.pages.len() <= position / self.page_len {
            let Some(page) = pool.allocate() else { return false };
            self.pages.push_back(page);
        }
        true
    }

    /// Gives back every page that no row from `next` on looks at, as far as the table still has it.
    /// A `next` before an earlier one gives back nothing: what is gone stays gone.
    pub fn slide(&mut self, next: usize, pool: &mut BlockPool) {
        // SOLUTION week4-day6 task 4
        while self.gone < pages_out(next, self.window, self.page_len) {
            let Some(page) = self.pages.pop_front() else { return };
            pool.release(page);
            self.gone += 1;
        }
        // END SOLUTION
    }

    /// Gives back all pages.
    pub fn clear(&mut self, pool: &mut BlockPool) {
        self.pages.drain(..).for_each(|page| pool.release(page));
        self.gone = 0;
    }
}
