//! Runs one load on one server.

use std::{
    fs,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde::Serialize;

use super::{
    super::week2::median,
    client::{Answered, ask},
    load::{Load, Sizes},
    server::Server,
};

/// Next request number. No number is used twice, so no server has a whole prompt in its cache.
static NUMBERS: AtomicU64 = AtomicU64::new(0);
/// Pause before each run, to let other activity on the machine settle.
const PAUSE: Duration = Duration::from_millis(400);
/// Minimum number of requests in a run.
const REQUESTS: u16 = 8;

/// The results of a run. Times are the median and the 99th percentile, in milliseconds. Processor
/// time is a fraction of the time of all processors.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Measured {
    pub(super) requests: u64,
    pub(super) tokens_per_second: f64,
    pub(super) first_ms: [f64; 2],
    pub(super) gap_ms: [f64; 2],
    pub(super) client_share: f64,
    pub(super) others_share: f64,
}

impl Measured {
    /// Returns the median of each result.
    pub(super) fn median(runs: &[Self]) -> Self {
        let of = |figure: &dyn Fn(&Self) -> f64| median(runs.iter().map(figure));
        Self {
            requests: runs.first().map_or(0, |run| run.requests),
            tokens_per_second: of(&|run| run.tokens_per_second),
            first_ms: [0, 1].map(|i| of(&|run| run.first_ms[i])),
            gap_ms: [0, 1].map(|i| of(&|run| run.gap_ms[i])),
            client_share: of(&|run| run.client_share),
            others_share: of(&|run| run.others_share),
        }
    }
}

/// Sends the requests of `load` from concurrent clients. Each sends a new request as soon as its
/// previous one is answered.
///
/// # Errors
/// If a request is not answered.
pub(super) fn measure(
    server: &Server,
    load: Load,
    clients: u16,
    sizes: &Sizes,
    run: u64,
) -> Result<Measured> {
    thread::sleep(PAUSE);
    let requests = u64::from(clients.max(REQUESTS).next_multiple_of(clients));
    let left = AtomicU64::new(requests);
    let (answers, before) = (Mutex::new(Vec::new()), Spent::now(server.id()));
    let start = Instant::now();
    let work = || -> Result<()> {
        while left.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_ok() {
            let number = NUMBERS.fetch_add(1, Relaxed);
            let answered = ask(server.address, &load.body(sizes, run, number).to_string())?;
            answers.lock().expect("no thread panics while it holds the lock").push(answered);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(work)).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("it does not panic"))
    })
    .with_context(|| format!("{}, {clients} clients", server.name))?;
    let seconds = start.elapsed().as_secs_f64();
    let spent = Spent::now(server.id()).since(&before);
    let answers = answers.into_inner().expect("no thread panics while it holds the lock");
    let tokens: u64 = answers.iter().map(|answered| answered.tokens).sum();
    let all =
        |times: &dyn Fn(&Answered) -> Vec<Duration>| quantiles(answers.iter().flat_map(times));
    let processors = thread::available_parallelism().map_or(1.0, |n| n.get() as f64);
    let share = |time: f64| time / (seconds * processors);
    Ok(Measured {
        requests,
        tokens_per_second: tokens as f64 / seconds,
        first_ms: all(&|answered| vec![answered.first]),
        gap_ms: all(&|answered| answered.gaps.clone()),
        client_share: share(spent.client),
        others_share: share((spent.all - spent.client - spent.server).max(0.0)),
    })
}

/// Returns the median and the 99th percentile, in milliseconds.
fn quantiles(times: impl Iterator<Item = Duration>) -> [f64; 2] {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    [0.5, 0.99].map(|share| {
        let at = (share * times.len().saturating_sub(1) as f64).round() as usize;
        times.get(at).map_or(0.0, |time| 1e3 * time.as_secs_f64())
    })
}

/// Processor time in seconds, or 0 if the system does not report it.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    client: f64,
    server: f64,
    /// The time of all processes.
    all: f64,
}

impl Spent {
    fn now(server: u32) -> Self {
        let of = |path: &str, first: usize, count: usize| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let line = text.lines().next().unwrap_or_default();
            // A process's second field is its name in parentheses.
            let fields = line.rsplit_once(')').map_or(line, |(_, fields)| fields);
            let ticks = fields.split_whitespace().skip(first).take(count);
            ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
        };
        Self {
            client: of("/proc/self/stat", 11, 2),
            server: of(&format!("/proc/{server}/stat"), 11, 2),
            // User, nice, system.
            all: of("/proc/stat", 1, 3),
        }
    }

    fn since(self, before: &Self) -> Self {
        Self {
            client: self.client - before.client,
            server: self.server - before.server,
            all: self.all - before.all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_median_and_the_99th_percentile() {
        let times = (1..=101).rev().map(Duration::from_millis);
        assert_eq!(quantiles(times), [51.0, 100.0]);
        assert_eq!(quantiles(std::iter::empty()), [0.0, 0.0]);
    }
}
