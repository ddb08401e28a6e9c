//! How many workers are worth calling at the moment.

use std::time::{Duration, Instant};

/// A worker that loses its core in the middle of a tile stalls the job until it has one again: some
/// milliseconds. Whoever shares a machine with other programs is better off with fewer threads, for
/// a time, and then tries again.
pub(super) struct Throttle {
    workers: usize,
    wanted: usize,
    /// How long fewer are called after the last stall.
    pause: Duration,
    /// When `wanted` last changed. The browser has no clock, and no workers.
    since: Option<Instant>,
}

/// A caller that waits for longer than this, and than its own part took, waits for a core.
const STALL: Duration = Duration::from_micros(500);
const SHORTEST: Duration = Duration::from_millis(4);
const LONGEST: Duration = Duration::from_millis(512);

impl Throttle {
    pub(super) fn new(workers: usize) -> Self {
        Self { workers, wanted: workers, pause: SHORTEST, since: None }
    }

    /// How many workers to call now.
    pub(super) fn wanted(&mut self) -> usize {
        if self.wanted < self.workers && self.elapsed() > self.pause {
            self.change(self.workers.min(2 * self.wanted + 1));
        }
        self.wanted
    }

    /// The caller did `part` of a job, and then slept until the workers had done theirs.
    pub(super) fn has_slept(&mut self, part: Duration, slept: Duration) {
        // Under loom, time is not what decides.
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
