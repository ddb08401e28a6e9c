//! Decides how many workers to use for a job.

use std::time::{Duration, Instant};

/// Reduces the number of workers after a stall. A worker that loses its core in the middle of a
/// tile stalls the job for several milliseconds, until it gets a core back. While other programs
/// use the machine, fewer threads are faster. So the throttle uses fewer for a while, and then
/// tries more again.
pub(super) struct Throttle {
    workers: usize,
    wanted: usize,
    /// How long `wanted` stays the same after a change. Then `wanted` is about doubled, up to the
    /// number of workers.
    pause: Duration,
    /// Time at which `wanted` last changed. `None` at first, and always in the browser, which has
    /// no clock and no workers.
    since: Option<Instant>,
}

/// If a caller sleeps longer than this, and longer than its own part took, a worker has probably
/// lost its core.
const STALL: Duration = Duration::from_micros(500);
/// The first value of `pause`. A stall soon after a change of `wanted` doubles the pause, up to
/// [`LONGEST`]. A later stall resets it.
const SHORTEST: Duration = Duration::from_millis(4);
const LONGEST: Duration = Duration::from_millis(512);

impl Throttle {
    pub(super) fn new(workers: usize) -> Self {
        Self { workers, wanted: workers, pause: SHORTEST, since: None }
    }

    /// Returns how many workers to use for the next job.
    pub(super) fn wanted(&mut self) -> usize {
        if self.wanted < self.workers && self.elapsed() > self.pause {
            self.change(self.workers.min(2 * self.wanted + 1));
        }
        self.wanted
    }

    /// Records that the caller took `part` for its share of a job and then slept for `slept` until
    /// the workers were done.
    pub(super) fn has_slept(&mut self, part: Duration, slept: Duration) {
        // Under `loom`, durations have no meaning.
        if slept < STALL.max(part) || cfg!(loom) {
            return;
        }
        let soon = self.elapsed() < 4 * self.pause;
        self.pause = if soon { LONGEST.min(2 * self.pause) } else { SHORTEST };
        self.change(self.wanted / 2);
    }

    fn change(&mut self, wanted: usize) {
        (self.wanted, self.since) = (wanted, Some(Instant::now()));
    }

    fn elapsed(&self) -> Duration {
        self.since.map_or(Duration::MAX, |since| since.elapsed())
    }
}
