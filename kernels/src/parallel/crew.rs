//! The worker threads, and how they receive jobs.
//!
//! A job is a closure on the caller's stack. [`Turn::run`] lends it to the workers that enter while
//! there are tiles to claim. It returns after the last of these workers has left. It never waits
//! for a worker that hasn't entered, because the operating system may have given that worker's core
//! to another program, and the caller can do the whole job alone. So it waits only for tiles that a
//! worker has begun.
//!
//! All shared state except the job is in one number, the gate: how many workers may still enter,
//! how many are inside, how many sleep, and three flags. A thread that finds no tile left closes
//! the gate. If a worker tries to enter after that, it finds the gate closed and doesn't read the
//! job, which may no longer exist.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::TryLockError,
    time::Instant,
};

use super::{
    sync::{
        Arc, AtomicU64, JoinHandle, LINGER, Mutex, MutexGuard, Ordering, PATIENCE, Thread,
        UnsafeCell, current, park, relax, spawn,
    },
    throttle::Throttle,
    tile::Claims,
};

/// The workers of a team, without the calling thread.
pub(super) struct Crew {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The lock that a thread holds while it gives jobs to the workers. Only one thread can do so
    /// at a time.
    turn: Mutex<(Claims, Throttle)>,
}

/// A job as workers see it, and the thread to wake at its end. The closure's real lifetime is
/// shorter than `'static`, see [`Turn::run`].
type Job = (&'static (dyn Fn() + Sync), Thread);

struct Shared {
    /// Three counts of 16 bits each ([`ROOM`], [`INSIDE`] and [`ASLEEP`]), and three flags.
    gate: AtomicU64,
    /// The current job. It is written while no worker is inside, and read by the workers that are
    /// inside.
    job: UnsafeCell<Option<Job>>,
}

/// What one worker adds to the gate's count of workers that may still enter.
const ROOM: u64 = 1;
/// What one worker adds to the gate's count of workers that are inside.
const INSIDE: u64 = 1 << 16;
/// What one worker adds to the gate's count of workers that sleep.
const ASLEEP: u64 = 1 << 32;
/// Flag: the caller is sleeping until no worker is inside.
const WAITING: u64 = 1 << 48;
/// Flag: a worker's part of the job panicked.
const PANICKED: u64 = 1 << 49;
/// Flag: the workers must end.
const QUIT: u64 = 1 << 50;

/// The maximum value of each count in the gate.
const MOST: u64 = INSIDE - 1;

fn count(gate: u64, unit: u64) -> u64 {
    (gate / unit) & MOST
}

/// Returns the gate with the count of workers that may enter set to 0.
fn closed(gate: u64) -> u64 {
    gate & !(MOST * ROOM)
}

// SAFETY: `job` is written by the thread that holds the crew's `turn`, while no worker is inside.
// The atomic release that lets workers enter publishes it. Workers enter with an acquire, and then
// read it.
unsafe impl Sync for Shared {}
// SAFETY: the job is `Sync`, so any thread may call it.
unsafe impl Send for Shared {}

/// The exclusive right to give the workers a job.
pub(super) struct Turn<'a> {
    crew: &'a Crew,
    state: MutexGuard<'a, (Claims, Throttle)>,
}

impl Crew {
    /// Starts `workers` threads, at most 65,535.
    pub(super) fn new(workers: usize) -> Self {
        let workers = workers.min(MOST as usize);
        let shared = Arc::new(Shared { gate: AtomicU64::new(0), job: UnsafeCell::new(None) });
        let worker = |_| {
            let shared = Arc::clone(&shared);
            spawn(move || shared.work())
        };
        let handles = (0..workers).map(worker).collect();
        Self {
            shared,
            workers: handles,
            turn: Mutex::new((Claims::default(), Throttle::new(workers))),
        }
    }

    /// Returns the number of workers.
    pub(super) fn len(&self) -> usize {
        self.workers.len()
    }

    /// Wakes sleeping workers, so that they are awake when the next job begins.
    pub(super) fn enter(&self) {
        if let Some(mut turn) = self.turn() {
            self.wake(self.shared.gate.load(Ordering::Relaxed), turn.state.1.wanted());
        }
    }

    /// Wakes the first `wanted` workers, unless that many are already awake.
    fn wake(&self, gate: u64, wanted: usize) {
        if count(gate, ASLEEP) as usize + wanted > self.len() {
            self.workers[..wanted].iter().for_each(|worker| worker.thread().unpark());
        }
    }

    /// Takes the turn to give the workers a job. Returns `None` if the throttle wants no workers,
    /// or if the workers are busy with another thread's job or with the job that makes this call.
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        let mut state = match self.turn.try_lock() {
            Ok(state) => state,
            // A job panicked and poisoned the lock, but that job has ended.
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (state.1.wanted() > 0).then_some(Turn { crew: self, state })
    }
}

impl Turn<'_> {
    /// Runs `job` on this thread and on the workers that join before it is done. At first, none of
    /// the `n` tiles is claimed. Returns the claims at the end. `job` must return when no tile is
    /// left to claim.
    pub(super) fn run(&mut self, n: usize, job: impl Fn(&Claims) + Sync) -> &Claims {
        let (claims, throttle) = &mut *self.state;
        claims.clear(n);
        let (claims, shared) = (&*claims, &*self.crew.shared);
        let job = || job(claims);
        let job: &(dyn Fn() + Sync) = &job;
        // SAFETY: the real lifetime is shorter, but workers use the reference only while they are
        // inside. This function neither returns nor unwinds before the gate is closed and no worker
        // is inside.
        let forever =
            unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(job) };
        // SAFETY: only this thread has the turn, and no worker is inside: the previous holder of
        // the turn closed the gate and waited until the workers had left.
        shared.job.with_mut(|place| unsafe { *place = Some((forever, current())) });
        let helpers = throttle.wanted().min(n - 1);
        let begun = Instant::now();
        self.crew.wake(shared.gate.fetch_add(helpers as u64 * ROOM, Ordering::AcqRel), helpers);
        let mine = catch_unwind(AssertUnwindSafe(job));
        shared.gate.fetch_and(closed(u64::MAX), Ordering::Relaxed);
        if let Some(slept) = shared.wait() {
            throttle.has_slept(slept.duration_since(begun), slept.elapsed());
        }
        let theirs = shared.gate.fetch_and(!(WAITING | PANICKED), Ordering::Relaxed) & PANICKED;
        if let Err(panic) = mine {
            resume_unwind(panic);
        }
        assert!(theirs == 0, "a thread of the team panicked");
        claims
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.gate.fetch_or(QUIT, Ordering::Release);
        for worker in self.workers.drain(..) {
            worker.thread().unpark();
            // A worker never panics outside a job, and a job's panic has been passed on.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn work(&self) {
        let mut looks = 0;
        loop {
            let gate = self.gate.load(Ordering::Acquire);
            if gate & QUIT != 0 {
                return;
            }
            if count(gate, ROOM) > 0 {
                if self.exchange(gate, gate - ROOM + INSIDE) {
                    self.take_part();
                    looks = 0;
                }
            } else if looks < LINGER {
                relax(&mut looks);
            } else if self.exchange(gate, gate + ASLEEP) {
                // A caller that lets workers enter from now on sees that this thread sleeps, and
                // wakes it.
                park();
                self.gate.fetch_sub(ASLEEP, Ordering::Relaxed);
                looks = 0;
            }
        }
    }

    /// Runs the job on this thread, a worker that is inside, and then leaves.
    fn take_part(&self) {
        // SAFETY: the job existed when this worker entered, and exists until this worker has left.
        let job = self.job.with(|place| unsafe { (*place).as_ref() });
        let (job, caller) = job.expect("a job comes before there is room");
        let panicked = if catch_unwind(AssertUnwindSafe(job)).is_err() { PANICKED } else { 0 };
        loop {
            let gate = self.gate.load(Ordering::Relaxed);
            let last = count(gate, INSIDE) == 1;
            // The handle is cloned now, because the job may no longer exist after this worker has
            // left.
            let caller = (last && gate & WAITING != 0).then(|| caller.clone());
            if self.exchange(gate, (closed(gate) - INSIDE) | panicked) {
                caller.inspect(Thread::unpark);
                return;
            }
        }
    }

    /// Waits until no worker is inside. Returns the time at which this thread fell asleep, or
    /// `None` if it only spun.
    fn wait(&self) -> Option<Instant> {
        let (mut looks, mut slept) = (0, None);
        loop {
            let gate = self.gate.load(Ordering::Acquire);
            if count(gate, INSIDE) == 0 {
                return slept;
            }
            if looks < PATIENCE {
                relax(&mut looks);
            } else if gate & WAITING != 0 || self.exchange(gate, gate | WAITING) {
                slept.get_or_insert_with(Instant::now);
                park();
            }
        }
    }

    fn exchange(&self, gate: u64, next: u64) -> bool {
        self.gate.compare_exchange(gate, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
