//! Threads: one team, entered once per forward pass, and one way to share work.
//!
//! [`Team::parallel_tiles`] is the only seam. It cuts an output into rectangles and hands each to
//! one thread, whichever is free: two threads never see the same rectangle, so a worker writes its
//! part through an ordinary `&mut` slice. This holds whatever a [`Schedule`] does: a tile that it
//! hands out a second time, or one that the cut does not have, is refused.

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

/// Threads that work on one thing at a time; the calling thread is one of them.
///
/// Several threads may call one team, and its own threads too, within the work that they do:
/// a thread that finds it busy does its work alone.
pub struct Team<S = InOrder> {
    crew: Crew,
    /// Jobs for more than one thread so far. Not one of [`sync`]'s: threads agree on nothing by it.
    jobs: std::sync::atomic::AtomicU64,
    schedule: PhantomData<fn() -> S>,
}

impl<S> Team<S> {
    /// A team of `threads`, the caller included; at least one.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { crew: Crew::new(threads.max(1) - 1), jobs: 0.into(), schedule: PhantomData }
    }

    /// Number of threads, the caller included.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.crew.len() + 1
    }

    /// Number of jobs so far that had more than one tile, for a team of several threads. Each ends
    /// with a barrier.
    #[must_use]
    pub fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }

    /// Wakes the workers, at the beginning of a forward pass: waking a thread takes as long as a
    /// small matrix. Without it [`Team::parallel_tiles`] works too, and wakes them itself.
    pub fn enter(&self) {
        self.crew.enter();
    }
}

impl<S: Schedule> Team<S> {
    /// Cuts `out`, rows of `width` values, into tiles of `tile.0` rows and `tile.1` columns (less
    /// at the edges) and runs `work` on each, on all threads. Returns when all are done.
    ///
    /// # Panics
    /// If `out` is no whole number of rows, if `work` panics, or if the schedule hands out a tile
    /// that the cut does not have, or one tile twice, or leaves one out.
    pub fn parallel_tiles<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        tile: (usize, usize),
        work: impl Fn(&mut Tile<'_, T>) + Sync,
    ) {
        let Some(whole) = Whole::cut(Part { out, width, tile }) else { return };
        // SAFETY: each number comes once, and no other thread has the output.
        self.share(whole.shape(), |i| work(&mut unsafe { whole.tile(i) }));
    }

    /// Like [`Team::parallel_tiles`], for several outputs in one job: `work` is told which of them a
    /// tile belongs to. A job ends with a wait for the slowest thread, so one is better than many.
    ///
    /// # Panics
    /// As [`Team::parallel_tiles`].
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
                        // SAFETY: each number comes once, and no other thread has the output.
                        return work(number, &mut unsafe { part.tile(i) });
                    }
                    _ => i -= count(part),
                }
            }
        });
    }

    /// Calls `work` once with the number of each tile, on all threads.
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
            panic!("tile {i}, of rows {rows:?} and columns {cols:?}, was taken by nobody");
        }
    }

    /// As [`Team::parallel_tiles`], for whole rows: `work` is given a range of `0..rows` at a time,
    /// `grain` rows or fewer, and writes nothing that is shared.
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

/// Who takes which tile.
pub trait Schedule {
    /// What every thread of the team does: as long as there are tiles that nobody has taken, it
    /// takes the next one and works on it. `next` is shared by all threads and counts the tiles
    /// that were taken; a tile is its rows and its columns in the whole.
    fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn((Range<usize>, Range<usize>)));
}

/// The schedule of a team that needs no task of the course.
#[derive(Debug, Clone, Copy)]
pub struct InOrder;

impl Schedule for InOrder {
    fn take_tiles(next: &impl Counter, cut: Cut, work: impl Fn((Range<usize>, Range<usize>))) {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&i| i < cut.count()).for_each(|i| work(cut.tile(i)));
    }
}

/// A number that threads share. The functions are those of [`AtomicUsize`]; a test that wants to
/// know what happens between two of them brings its own counter.
pub trait Counter: Sync {
    /// The number, about to be used.
    fn number(&self) -> &AtomicUsize;

    /// Adds `n` and returns what was there before, in one step.
    fn fetch_add(&self, n: usize, order: Ordering) -> usize {
        self.number().fetch_add(n, order)
    }

    /// What is there.
    fn load(&self, order: Ordering) -> usize {
        self.number().load(order)
    }

    /// Replaces what is there.
    fn store(&self, n: usize, order: Ordering) {
        self.number().store(n, order);
    }

    /// Replaces what is there, and returns it, in one step.
    fn swap(&self, n: usize, order: Ordering) -> usize {
        self.number().swap(n, order)
    }

    /// Replaces `current` by `new`, if it is there, in one step; returns what was there.
    ///
    /// # Errors
    /// If something else was there: that.
    fn compare_exchange(
        &self,
        current: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        self.number().compare_exchange(current, new, success, failure)
    }

    /// The same, and may fail for no reason.
    ///
    /// # Errors
    /// As [`Counter::compare_exchange`], or with `current`.
    fn compare_exchange_weak(
        &self,
        current: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        self.number().compare_exchange_weak(current, new, success, failure)
    }

    /// Replaces what is there by what `update` makes of it, unless that is `None`; returns what was
    /// there.
    ///
    /// # Errors
    /// If `update` returned `None`: what was there.
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
