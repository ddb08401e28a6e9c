//! Day 6. Decides which thread computes which part of an output.
//!
//! The thread pool itself ([`Team`]) is provided by the crate `tiny_llm_kernels`.
//! [`Team::parallel_tiles`](parallel::Team::parallel_tiles) cuts an output into tiles (rectangles)
//! and calls [`take_tiles`] on every thread. Each thread then takes one tile after another. Work on
//! several outputs at once goes through `parallel_parts`. All other parallel work goes through
//! `parallel_tiles`. No two threads get the same tile, so each thread writes its tiles through
//! ordinary `&mut` slices.
//!
//! Tasks here: week2-day6 task 3 (`Grid::count`, `Grid::tile`, `take_tiles`). Everything else is
//! provided.

use std::{ops::Range, sync::atomic::Ordering};

use tiny_llm_kernels::parallel::{self, Cut, Schedule};
pub use tiny_llm_kernels::parallel::{Counter, Tile};

/// A thread pool whose threads divide their work with [`take_tiles`].
pub type Team = parallel::Team<ByGrid>;

/// The [`Schedule`] that distributes tiles with [`take_tiles`].
#[derive(Debug, Clone, Copy)]
pub struct ByGrid;

impl Schedule for ByGrid {
    fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn((Range<usize>, Range<usize>))) {
        let Cut { rows, width, tile } = cut;
        take_tiles(next, &Grid { rows, width, tile }, work);
    }
}

/// A rectangle that is cut into tiles of equal size. Tiles at the right and lower edges may be
/// smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Number of rows in the whole rectangle.
    pub rows: usize,
    /// Number of columns in the whole rectangle.
    pub width: usize,
    /// Number of rows and number of columns in a tile, each at least 1.
    pub tile: (usize, usize),
}

impl Grid {
    /// Returns the number of tiles.
    #[must_use]
    pub fn count(&self) -> usize {
        // SOLUTION week2-day6 task 3
        self.rows.div_ceil(self.tile.0) * self.width.div_ceil(self.tile.1)
        // END SOLUTION
    }

    /// Returns the rows and columns of tile `i`. Tiles are numbered row by row, from left to right.
    #[must_use]
    pub fn tile(&self, i: usize) -> (Range<usize>, Range<usize>) {
        // SOLUTION week2-day6 task 3
        let across = self.width.div_ceil(self.tile.1);
        let (row, col) = (i / across * self.tile.0, i % across * self.tile.1);
        (row..self.rows.min(row + self.tile.0), col..self.width.min(col + self.tile.1))
        // END SOLUTION
    }
}

/// Takes tiles of `grid` one by one until none is left. Calls `work` with the rows and columns of
/// each tile. Runs on every thread of the team. All threads share `next`, which works like an
/// `AtomicUsize` and holds the index of the next tile. `Ordering::Relaxed` is enough, because the
/// threads share only that index.
pub fn take_tiles(next: &impl Counter, grid: &Grid, work: impl Fn((Range<usize>, Range<usize>))) {
    // SOLUTION week2-day6 task 3
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= grid.count() {
            return;
        }
        work(grid.tile(i));
    }
    // END SOLUTION
}
