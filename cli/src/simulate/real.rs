//! Runs the same load on the real model, in real time.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{
    cluster::{Open, Outcome, Real},
    load::Arrival,
};
use crate::{Batch, BatchCounts};
use tiny_llm_formats::request::{Event, Extras, Request};

/// How requests are admitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission {
    /// Number of batch slots.
    pub max_batch: usize,
    /// Whether a request is admitted only after the whole batch has finished.
    pub in_batches: bool,
}

/// Serves the requests in `arrivals`, each from its arrival time on. Every answer has the full
/// requested length.
pub(super) fn serve(
    batch: &mut dyn Batch,
    arrivals: impl Iterator<Item = Arrival>,
    admission: Admission,
) -> Result<Outcome> {
    warm_up(batch)?;
    let before = batch.counts();
    let (mut outcome, mut real) = (Outcome::default(), Real::default());
    let (mut queue, mut open) = (VecDeque::new(), HashMap::new());
    let mut arrivals = arrivals.collect::<VecDeque<_>>();
    let mut events = Vec::new();
    let start = Instant::now();
    loop {
        let now = start.elapsed().as_secs_f64();
        while arrivals.front().is_some_and(|arrival| arrival.time <= now) {
            queue.extend(arrivals.pop_front());
        }
        let most = match admission {
            Admission { max_batch, in_batches: false } => 2 * max_batch,
            Admission { max_batch, .. } if open.is_empty() => max_batch,
            Admission { .. } => 0,
        };
        while open.len() < most {
            let Some(Arrival { time, prompt, max_new_tokens }) = queue.pop_front() else { break };
            outcome.prompt_tokens += prompt.len() as u64;
            let id =
                batch.submit(Request::greedy(prompt, max_new_tokens), None, Extras::default())?;
            open.insert(id, Open::new(time));
        }
        if open.is_empty() {
            let Some(next) = arrivals.front() else { break };
            std::thread::sleep(Duration::from_secs_f64((next.time - now).max(0.0)));
            continue;
        }
        events.clear();
        batch.step(&mut |event| events.push(event))?;
        let end = start.elapsed().as_secs_f64();
        outcome.seconds = end;
        for event in events.drain(..) {
            match event {
                Event::Token { id, .. } => {
                    let open: &mut Open = open.get_mut(&id).expect("it was submitted");
                    open.token(end, &mut outcome);
                }
                Event::Finished { id, .. } => {
                    open.remove(&id).expect("it was submitted").finished(&mut outcome);
                }
            }
        }
        look(&mut real, &batch.counts(), batch.rows().len());
    }
    let counts = batch.counts();
    outcome.steps = counts.steps - before.steps;
    outcome.rows = counts.rows - before.rows;
    if let Some(pages) = counts.pages {
        outcome.preempted = pages.preempted;
        outcome.most_pages = pages.most_used;
        outcome.attached = pages.found.map_or(0, |(found, _)| found);
    }
    real.drafts = counts.drafts;
    outcome.real = Some(real);
    Ok(outcome)
}

/// Records the use of the cache in `real` after a step with `running` running requests.
fn look(real: &mut Real, counts: &BatchCounts, running: usize) {
    let cache = counts.cache;
    if cache.used >= real.cache.used {
        real.cache = cache;
    }
    let beyond = cache.held.saturating_sub(cache.used);
    if running > 0 {
        real.beyond = real.beyond.max(beyond / running as u64);
    }
}

/// Generates a short text, so that memory is mapped and threads have started before the
/// measurement.
fn warm_up(batch: &mut dyn Batch) -> Result<()> {
    batch.submit(Request::greedy(vec![0; 8], 4), None, Extras::default())?;
    let mut done = false;
    while !done {
        batch.step(&mut |event| done |= matches!(event, Event::Finished { .. }))?;
    }
    Ok(())
}
