//! Threads: a team, woken once per forward pass, that distributes work in tiles.
//!
//! All shared output is written through [`Team::parallel_tiles`]. It cuts an output into rectangles
//! and gives each to one free thread. Two threads never get the same rectangle, so a thread writes
//! its part through an ordinary `&mut` slice. This holds for any [`Schedule`], because handing out
//! a tile twice, or a tile that is not in the cut, causes a panic.

#![allow(
    unsafe_code,
    reason = "threads write disjoint parts of one slice, and borrow work from the caller's stack"
)]

mod crew;
mod sync;
mod throttle;
mod tile;

use std::{marker::PhantomData, ops::Range};

pub use self::tile::{Cut, Part, Tile};
use self::{
    crew::Crew,
    sync::{AtomicUsize, Ordering},
    tile::Whole,
};

/// A team of threads that work on one job at a time. The calling thread is one of them.
///
/// Any thread may call a team, including the team's own threads during a job. A caller that finds
/// the team busy does its work alone.
pub struct Team<S = InOrder> {
    crew: Crew,
    /// The number that [`Team::jobs`] returns. The type is the standard library's and not from
    /// [`sync`], because no thread relies on the value.
    jobs: std::sync::atomic::AtomicU64,
    schedule: PhantomData<fn() -> S>,
}

impl<S> Team<S> {
    /// Creates a team of `threads` threads (at least one), including the caller.
    pub fn new(threads: usize) -> Self {
        Self { crew: Crew::new(threads.max(1) - 1), jobs: 0.into(), schedule: PhantomData }
    }

    /// Returns the number of threads, including the caller.
    pub fn threads(&self) -> usize {
        self.crew.len() + 1
    }

    /// Returns the number of jobs so far that had more than one tile, or 0 if the team has only one
    /// thread. Each such job ends with a barrier, unless the calling thread did it alone.
    pub fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }

    /// Wakes the workers at the beginning of a forward pass, because waking a thread takes as long
    /// as multiplying a small matrix. Calling this is optional, because [`Team::parallel_tiles`]
    /// also wakes them.
    pub fn enter(&self) {
        self.crew.enter();
    }
}

impl<S: Schedule> Team<S> {
    /// Cuts `out`, rows of `width` values, into tiles of `tile.0` rows and `tile.1` columns (fewer
    /// at the edges). Runs `work` on each tile, on all threads, and returns when all are done.
    ///
    /// # Panics
    /// If `out` is not a whole number of rows, or `work` panics. Also if the schedule hands out a
    /// tile that does not exist, hands out a tile twice, or omits one.
    pub fn parallel_tiles<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        tile: (usize, usize),
        work: impl Fn(&mut Tile<'_, T>) + Sync,
    ) {
        let Some(whole) = Whole::cut(Part { out, width, tile }) else { return };
        // SAFETY: each tile number is passed once, and no other thread accesses the output.
        self.share(whole.shape(), |i| work(&mut unsafe { whole.tile(i) }));
    }

    /// Like [`Team::parallel_tiles`], for several outputs in one job. `work` also gets the index of
    /// the output that a tile belongs to. Every job ends with a wait for the slowest thread, so one
    /// job is better than several.
    ///
    /// # Panics
    /// In the same cases as [`Team::parallel_tiles`].
    pub fn parallel_parts<T: Send, const N: usize>(
        &self,
        parts: [Part<'_, T>; N],
        work: impl Fn(usize, &mut Tile<'_, T>) + Sync,
    ) {
        let parts = parts.map(Whole::cut);
        let count = |part: &Option<Whole<'_, T>>| part.as_ref().map_or(0, |w| w.shape().count());
        let width = parts.iter().map(count).sum();
        self.share(Cut { rows: 1, width, tile: (1, 1) }, |mut i| {
            for (number, part) in parts.iter().enumerate() {
                match part {
                    Some(part) if i < part.shape().count() => {
                        // SAFETY: each tile number is passed once, and no other thread accesses the
                        // output.
                        return work(number, &mut unsafe { part.tile(i) });
                    }
                    _ => i -= count(part),
                }
            }
        });
    }

    /// Divides the tiles among all threads: calls `work` exactly once for each tile, with the
    /// tile's index.
    fn share(&self, cut: Cut, work: impl Fn(usize) + Sync) {
        let n = cut.count();
        let turn = if self.crew.len() == 0 || n < 2 {
            None
        } else {
            self.jobs.fetch_add(1, Ordering::Relaxed);
            self.crew.turn()
        };
        let Some(mut turn) = turn else {
            (0..n).for_each(work);
            return;
        };
        let next = AtomicUsize::new(0);
        let claims = turn.run(n, |claims| {
            S::take_tiles(&next, cut, |(rows, cols)| {
                let i = cut.number(&rows, &cols);
                assert!(
                    claims.take(i),
                    "tile {i}, of rows {rows:?} and columns {cols:?}, was taken a second time"
                );
                work(i);
            });
        });
        if let Some(i) = claims.untaken(n) {
            let (rows, cols) = cut.tile(i);
            panic!("tile {i}, of rows {rows:?} and columns {cols:?}, was never taken");
        }
    }

    /// Calls `work` once for each row of `out`, with the row's index and its values `[width]`.
    /// Threads take `grain` rows at a time.
    pub fn parallel_rows<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        grain: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) {
        self.parallel_tiles(out, width, (grain, width), |tile| {
            for row in tile.rows() {
                work(row, tile.row_mut(row));
            }
        });
    }
}

/// A way to distribute tiles among threads.
pub trait Schedule {
    /// Runs on every thread of the team: takes the next tile and works on it, until no tiles are
    /// left. `next` is shared by all threads and counts the tiles that were taken. `work` receives
    /// the tile's rows and columns, as ranges of the whole output.
    fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn((Range<usize>, Range<usize>)));
}

/// The default schedule, for teams that don't use the schedule that a learner writes.
#[derive(Debug, Clone, Copy)]
pub struct InOrder;

impl Schedule for InOrder {
    fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn((Range<usize>, Range<usize>))) {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&i| i < cut.count()).for_each(|i| work(cut.tile(i)));
    }
}

/// A number that threads share, with the functions of [`AtomicUsize`]. A test can provide its own
/// counter, to observe what happens between two operations.
pub trait Counter: Sync {
    /// Returns the atomic number that the other functions use.
    fn number(&self) -> &AtomicUsize;

    /// Adds `n` and returns the previous value, in one step.
    fn fetch_add(&self, n: usize, order: Ordering) -> usize {
        self.number().fetch_add(n, order)
    }

    /// Returns the value.
    fn load(&self, order: Ordering) -> usize {
        self.number().load(order)
    }

    /// Replaces the value.
    fn store(&self, n: usize, order: Ordering) {
        self.number().store(n, order);
    }

    /// Replaces the value and returns the previous one, in one step.
    fn swap(&self, n: usize, order: Ordering) -> usize {
        self.number().swap(n, order)
    }

    /// If the value is `current`, replaces it with `new`, in one step. Returns the previous value.
    ///
    /// # Errors
    /// If the value is not `current`. The error is the value.
    fn compare_exchange(
        &self,
        current: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        self.number().compare_exchange(current, new, success, failure)
    }

    /// Like [`Counter::compare_exchange`], but may fail even if the value is `current`.
    ///
    /// # Errors
    /// If the value was not replaced. The error is the value.
    fn compare_exchange_weak(
        &self,
        current: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        self.number().compare_exchange_weak(current, new, success, failure)
    }

    /// Replaces the value with the result of `update`, unless that is `None`. Returns the previous
    /// value.
    ///
    /// # Errors
    /// If `update` returned `None`. The error is the value.
    fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        update: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        self.number().fetch_update(set, fetch, update)
    }
}

impl Counter for AtomicUsize {
    fn number(&self) -> &AtomicUsize {
        self
    }
}
