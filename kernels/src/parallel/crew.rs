//! Threads that wait for a job, and how they are given one.
//!
//! Waking a sleeping thread costs more than a small matrix, so workers spin while a pass is on, and a
//! moment longer; then they sleep until the next. A job is a closure on the caller's stack:
//! [`Turn::run`] lends it out and returns when every worker has given it back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{PoisonError, TryLockError},
};

use super::{
    sync::{
        Arc, AtomicBool, AtomicUsize, Condvar, JoinHandle, LINGER, Mutex, MutexGuard, Ordering,
        UnsafeCell, relax, spawn, wait_until,
    },
    tile::Claims,
};

/// Workers, beside the thread that calls.
pub(super) struct Crew {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Whoever holds this gives the workers their jobs: one caller at a time.
    turn: Mutex<Claims>,
}

/// What is run, as workers see it. The lifetime is the caller's, see [`Turn::run`].
type Job = &'static (dyn Fn() + Sync);

struct Shared {
    /// Counts jobs; a worker that sees a new number takes the job.
    epoch: AtomicUsize,
    /// Valid from the moment when `epoch` changes until `working` is 0 again.
    job: UnsafeCell<Option<Job>>,
    /// Workers that have not finished the job.
    working: AtomicUsize,
    panicked: AtomicBool,
    /// How many passes are on: while there are any, workers spin.
    passes: AtomicUsize,
    quit: AtomicBool,
    sleep: Mutex<()>,
    wake: Condvar,
}

// SAFETY: `job` is written by the thread that holds the crew's `turn`, while no worker runs
// (`working` is 0), published by the release of `epoch` and read after an acquire of it.
unsafe impl Sync for Shared {}
// SAFETY: what `job` refers to is `Sync`, so it may be called from any thread.
unsafe impl Send for Shared {}

/// The workers are awake until this is dropped.
pub struct Pass<'a> {
    shared: &'a Shared,
}

/// The right to give the workers a job, which one thread has at a time.
pub(super) struct Turn<'a> {
    crew: &'a Crew,
    claims: MutexGuard<'a, Claims>,
}

impl Crew {
    /// So many workers.
    pub(super) fn new(workers: usize) -> Self {
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            working: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            passes: AtomicUsize::new(0),
            quit: AtomicBool::new(false),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
        });
        let worker = |_| {
            let shared = Arc::clone(&shared);
            spawn(move || shared.work())
        };
        let workers = (0..workers).map(worker).collect();
        Self { shared, workers, turn: Mutex::new(Claims::default()) }
    }

    /// Number of workers.
    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Wakes the workers until the returned guard is dropped.
    pub(super) fn enter(&self) -> Pass<'_> {
        let shared = &*self.shared;
        if shared.passes.fetch_add(1, Ordering::AcqRel) == 0 && !self.workers.is_empty() {
            // Whoever saw no pass holds this lock until it sleeps, and so is not missed.
            let _guard = shared.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            shared.wake.notify_all();
        }
        Pass { shared }
    }

    /// The workers, if they are free: they are not while another thread's job is on, nor within a
    /// job.
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        let claims = match self.turn.try_lock() {
            Ok(claims) => claims,
            // A job that panicked has ended all the same.
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Turn { crew: self, claims })
    }
}

impl Turn<'_> {
    /// Runs `job` once on every thread, this one included, with nothing claimed of `n` tiles.
    /// Afterwards the claims say what was.
    pub(super) fn run(&mut self, n: usize, job: impl Fn(&Claims) + Sync) -> &Claims {
        self.claims.clear(n);
        let (claims, shared) = (&*self.claims, &*self.crew.shared);
        let job = || job(claims);
        let job: &(dyn Fn() + Sync) = &job;
        let pass = self.crew.enter();
        // SAFETY: the lifetime is longer than the truth, but the reference is used only until
        // `working` is 0, and this function neither returns nor unwinds before.
        let forever: Job = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), Job>(job) };
        // SAFETY: this thread alone has the turn, and `working` is 0, as whoever had it before has
        // waited for that; so no worker looks at the job.
        shared.job.with_mut(|place| unsafe { *place = Some(forever) });
        shared.working.store(self.crew.len(), Ordering::Relaxed);
        shared.epoch.fetch_add(1, Ordering::Release);
        let mine = catch_unwind(AssertUnwindSafe(job));
        wait_until(|| shared.working.load(Ordering::Acquire) == 0);
        drop(pass);
        let theirs = shared.panicked.swap(false, Ordering::Relaxed);
        if let Err(panic) = mine {
            resume_unwind(panic);
        }
        assert!(!theirs, "a thread of the team panicked");
        &self.claims
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.quit.store(true, Ordering::Release);
        drop(self.enter());
        for worker in self.workers.drain(..) {
            // A worker does not panic outside a job, and a job's panic was passed on.
            let _ = worker.join();
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.shared.passes.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    fn work(&self) {
        let mut seen = 0;
        loop {
            let (mut spins, mut looks) = (0, 0);
            loop {
                if self.quit.load(Ordering::Acquire) {
                    return;
                }
                if self.epoch.load(Ordering::Acquire) != seen {
                    break;
                }
                if self.passes.load(Ordering::Acquire) > 0 {
                    relax(&mut spins);
                    looks = 0;
                } else if looks < LINGER {
                    relax(&mut spins);
                    looks += 1;
                } else {
                    self.sleep(seen);
                    looks = 0;
                }
            }
            seen += 1;
            // SAFETY: `epoch` has changed, so the job is there and stays until this worker has
            // counted itself out.
            let job = self.job.with(|place| unsafe { *place }).expect("a job comes with its epoch");
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.working.fetch_sub(1, Ordering::Release);
        }
    }

    fn sleep(&self, seen: usize) {
        let mut guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
        while self.passes.load(Ordering::Acquire) == 0
            && !self.quit.load(Ordering::Acquire)
            && self.epoch.load(Ordering::Acquire) == seen
        {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
