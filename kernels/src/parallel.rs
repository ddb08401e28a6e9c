//! Threads: one team, entered once per forward pass, and one way to share work.
//!
//! [`Team::parallel_tiles`] is the only seam. It cuts an output into rectangles and hands each to
//! one thread, whichever is free: two threads never see the same rectangle, so a worker writes its
//! part through an ordinary `&mut` slice.

#![allow(
    unsafe_code,
    reason = "threads write disjoint parts of one slice, and borrow work from the caller's stack"
)]

use std::{
    cell::UnsafeCell,
    marker::PhantomData,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

/// How often a waiting thread looks before it offers its core to another: some tens of
/// microseconds.
const SPINS: u32 = 1 << 10;

/// Threads that work on one thing at a time; the calling thread is one of them.
pub struct Team<S = InOrder> {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    schedule: PhantomData<fn() -> S>,
}

/// What is run, as workers see it. The lifetime is the caller's, see [`Team::run`].
type Job = &'static (dyn Fn() + Sync);

struct Shared {
    /// Counts jobs; a worker that sees a new number takes the job.
    epoch: AtomicUsize,
    /// Valid from the moment when `epoch` changes until `working` is 0 again.
    job: UnsafeCell<Option<Job>>,
    /// Workers that have not finished the job.
    working: AtomicUsize,
    panicked: AtomicBool,
    /// Between passes workers sleep; within one they spin.
    awake: AtomicBool,
    quit: AtomicBool,
    sleep: Mutex<()>,
    wake: Condvar,
}

// SAFETY: `job` is written by the calling thread alone while no worker runs (`working` is 0),
// published by the release store to `epoch` and read after the acquire load of it.
unsafe impl Sync for Shared {}

impl<S> Team<S> {
    /// A team of `threads`, the caller included; at least one.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            working: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            awake: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
        });
        let worker = |_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.work())
        };
        let workers = (1..threads.max(1)).map(worker).collect();
        Self { shared, workers, schedule: PhantomData }
    }

    /// Number of threads, the caller included.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Wakes the workers until the returned guard is dropped: once per forward pass, since waking a
    /// thread costs more than a small matrix. Without it [`Team::parallel_tiles`] works too, and
    /// wakes them itself.
    pub fn enter(&self) -> Pass<'_> {
        if !self.workers.is_empty() {
            let _guard = self.shared.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.shared.awake.store(true, Ordering::Release);
            self.shared.wake.notify_all();
        }
        Pass { shared: &self.shared }
    }
}

impl<S: Schedule> Team<S> {
    /// Cuts `out`, rows of `width` values, into tiles of `tile.0` rows and `tile.1` columns (less
    /// at the edges) and runs `work` on each, on all threads. Returns when all are done.
    ///
    /// # Panics
    /// If `out` is no whole number of rows, or `work` panics.
    pub fn parallel_tiles<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        tile: (usize, usize),
        work: impl Fn(&mut Tile<'_, T>) + Sync,
    ) {
        if out.is_empty() {
            return;
        }
        assert!(
            width > 0 && out.len().is_multiple_of(width),
            "{} values are no whole number of rows of {width}",
            out.len()
        );
        let rows = out.len() / width;
        let cut = Cut { rows, width, tile: (tile.0.clamp(1, rows), tile.1.clamp(1, width)) };
        let base = SendPointer(out.as_mut_ptr());
        let give = |tile: (Range<usize>, Range<usize>)| {
            let base = &base;
            let (rows, cols) = tile;
            let fits = rows.start < rows.end
                && rows.end <= cut.rows
                && cols.start < cols.end
                && cols.end <= cut.width;
            assert!(
                fits,
                "a tile of rows {rows:?} and columns {cols:?} does not lie in {} rows of {}",
                cut.rows, cut.width
            );
            work(&mut Tile { rows, cols, width, base: base.0, lifetime: PhantomData });
        };
        let (down, across) = cut.tile;
        if self.workers.is_empty() || (down >= rows && across >= width) {
            for row in (0..rows).step_by(down) {
                for col in (0..width).step_by(across) {
                    give((row..rows.min(row + down), col..width.min(col + across)));
                }
            }
            return;
        }
        let next = AtomicUsize::new(0);
        // Two threads with one tile would write the same memory. Tests are built with this check.
        #[cfg(debug_assertions)]
        let cells: Vec<AtomicBool> = (0..out.len()).map(|_| AtomicBool::new(false)).collect();
        let each = |tile: (Range<usize>, Range<usize>)| {
            #[cfg(debug_assertions)]
            for row in tile.0.clone() {
                for cell in tile.1.clone().filter_map(|col| cells.get(row * width + col)) {
                    assert!(
                        !cell.swap(true, Ordering::Relaxed),
                        "rows {:?}, columns {:?}: given out before; tiles overlap, or two threads took the same number, which must be read and \
                         counted up in one step, with `fetch_add`, and looked at as it was returned",
                        tile.0,
                        tile.1,
                    );
                }
            }
            give(tile);
        };
        self.run(&|| S::take_tiles(&next, cut, each));
        #[cfg(debug_assertions)]
        if let Some(cell) = cells.iter().position(|cell| !cell.load(Ordering::Relaxed)) {
            panic!("row {}, column {} of the output: given to nobody", cell / width, cell % width);
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
            for row in tile.rows.clone() {
                work(row, tile.row_mut(row));
            }
        });
    }
}

impl<S> Team<S> {
    /// Runs `job` once on every thread.
    fn run(&self, job: &(dyn Fn() + Sync)) {
        if self.workers.is_empty() {
            return job();
        }
        let shared = &*self.shared;
        let pass = (!shared.awake.load(Ordering::Relaxed)).then(|| self.enter());
        // SAFETY: the lifetime is longer than the truth, but the reference is used only until
        // `working` is 0, and this function neither returns nor unwinds before.
        let forever: Job = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), Job>(job) };
        // SAFETY: `working` is 0, so no worker looks at it.
        unsafe { *shared.job.get() = Some(forever) };
        shared.working.store(self.workers.len(), Ordering::Relaxed);
        shared.epoch.fetch_add(1, Ordering::Release);
        let mine = catch_unwind(AssertUnwindSafe(job));
        wait_until(|| shared.working.load(Ordering::Acquire) == 0);
        drop(pass);
        if let Err(panic) = mine {
            std::panic::resume_unwind(panic);
        }
        assert!(!shared.panicked.swap(false, Ordering::Relaxed), "a thread of the team panicked");
    }
}

impl<S> Drop for Team<S> {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Release);
        drop(self.enter());
        for worker in self.workers.drain(..) {
            // A worker does not panic outside a job, and a job's panic was passed on.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        let mut seen = 0;
        loop {
            let mut spins = 0;
            loop {
                if self.quit.load(Ordering::Acquire) {
                    return;
                }
                if self.epoch.load(Ordering::Acquire) != seen {
                    break;
                }
                if self.awake.load(Ordering::Acquire) {
                    relax(&mut spins);
                } else {
                    self.sleep(seen);
                }
            }
            seen += 1;
            // SAFETY: `epoch` has changed, so the job is there and stays until this worker has
            // counted itself out.
            let job = unsafe { (*self.job.get()).expect("a job comes with its epoch") };
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.working.fetch_sub(1, Ordering::Release);
        }
    }

    fn sleep(&self, seen: usize) {
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.awake.load(Ordering::Acquire)
            && !self.quit.load(Ordering::Acquire)
            && self.epoch.load(Ordering::Acquire) == seen
        {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An output that is cut into tiles, all of one size but those at the right and lower edge, which
/// hold what is left. Tiles are numbered from left to right, then downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Rows of the whole.
    pub rows: usize,
    /// Columns of the whole.
    pub width: usize,
    /// Rows and columns of a tile, each at least 1.
    pub tile: (usize, usize),
}

impl Cut {
    fn count(&self) -> usize {
        self.rows.div_ceil(self.tile.0) * self.width.div_ceil(self.tile.1)
    }

    fn tile(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let ((down, across), in_a_row) = (self.tile, self.width.div_ceil(self.tile.1));
        let (top, left) = (i / in_a_row * down, i % in_a_row * across);
        (top..self.rows.min(top + down), left..self.width.min(left + across))
    }
}

/// Who takes which tile.
pub trait Schedule {
    /// What every thread of the team does: as long as there are tiles that nobody has taken, it
    /// takes the next one and works on it. `next` is shared by all threads and counts the tiles that
    /// were taken; a tile is its rows and its columns in the whole.
    fn take_tiles(next: &AtomicUsize, cut: Cut, work: impl Fn((Range<usize>, Range<usize>)));
}

/// The schedule of a team that needs no task of the course.
#[derive(Debug, Clone, Copy)]
pub struct InOrder;

impl Schedule for InOrder {
    fn take_tiles(next: &AtomicUsize, cut: Cut, work: impl Fn((Range<usize>, Range<usize>))) {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|&i| i < cut.count()).for_each(|i| work(cut.tile(i)));
    }
}

/// The team is awake until this is dropped.
pub struct Pass<'a> {
    shared: &'a Shared,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.shared.awake.store(false, Ordering::Release);
    }
}

/// A rectangle of the output, which no other thread has.
pub struct Tile<'a, T> {
    /// Its rows in the whole output.
    pub rows: Range<usize>,
    /// Its columns in the whole output.
    pub cols: Range<usize>,
    width: usize,
    base: *mut T,
    lifetime: PhantomData<&'a mut [T]>,
}

impl<T> Tile<'_, T> {
    /// The tile's part of row `row` of the whole output.
    ///
    /// # Panics
    /// If the row is not in the tile.
    pub fn row_mut(&mut self, row: usize) -> &mut [T] {
        assert!(self.rows.contains(&row), "row {row} is not in this tile");
        // SAFETY: row and columns lie within the slice that `parallel_tiles` was given, and each
        // tile is made once, so nobody else has this part; `&mut self` keeps two parts of one tile
        // from being borrowed at once.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.base.add(row * self.width + self.cols.start),
                self.cols.len(),
            )
        }
    }
}

struct SendPointer<T>(*mut T);
// SAFETY: threads use it for disjoint parts only, see `Tile`.
unsafe impl<T: Send> Sync for SendPointer<T> {}

fn wait_until(done: impl Fn() -> bool) {
    let mut spins = 0;
    while !done() {
        relax(&mut spins);
    }
}

fn relax(spins: &mut u32) {
    *spins += 1;
    if (*spins).is_multiple_of(SPINS) { std::thread::yield_now() } else { std::hint::spin_loop() }
}
