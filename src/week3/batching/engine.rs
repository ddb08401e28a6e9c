//! Day 1. The engine: requests arrive at any time, and every step runs the model once for all of
//! them.
//!
//! This file implements the engine's steps. The other parts of the engine are in `provided/week3`:
//!
//! - its options: `batching/options.rs`
//! - how requests are submitted: `batching/submit.rs`
//! - how many rows each request gets in a step: `scheduling/shares.rs`
//! - how tokens are chosen from logits: `batching/choose.rs`
//! - how the times of each request's events are recorded: `batching/records.rs`
//! - functions that read the engine's state: `batching/asked.rs`
//!
//! Tasks here: week3-day1 task 4 (`Engine::admit`, `Engine::retire`, `append_rows`), week3-day3
//! task 4 (`Engine::preempt`). Everything else is provided.

use std::collections::VecDeque;

pub use tiny_llm_formats::request::Event;

use super::{
    ahead::Ahead,
    extras::Chosen,
    options::Counts,
    pass::{ModelPass, Pass},
    request::{Phase, RequestId, Sequence},
    room::EngineCache,
    scheduler::{Load, Scheduler},
    slots::Slots,
    step_times::StepTimes,
    timeline::Record,
};
use crate::week2::{cache::DenseCache, rows::Row};

/// Serves requests with one model and one cache, in the order in which the requests arrive. A
/// request joins the batch as soon as a slot is free. A finished request leaves the batch at once,
/// while the other requests continue.
pub struct Engine<C = DenseCache, P = ModelPass> {
    pub(crate) pass: P,
    pub(crate) context: usize,
    pub(crate) scheduler: Option<Scheduler>,
    pub(crate) gap: Option<usize>,
    pub(crate) step_times: StepTimes,
    pub(crate) cache: C,
    pub(crate) slots: Slots,
    pub(crate) waiting: VecDeque<Sequence>,
    pub(crate) running: Vec<Sequence>,
    pub(crate) next_id: RequestId,
    pub(crate) counts: Counts,
    /// Total number of cached positions that requests reused instead of computing them again.
    pub(crate) attached: u64,
    /// For each request that got its first rows in the last step: its id, and how many of its
    /// positions were already in the cache.
    pub(crate) found: Vec<(RequestId, usize)>,
    /// What the scheduler knows about each request in `running`, in the same order.
    pub(crate) loads: Vec<Load>,
    /// Number of rows that each request in `running` has in this step, in the same order.
    pub(crate) shares: Vec<usize>,
    /// Records of finished requests, or `None` if the engine keeps no records.
    pub(crate) records: Option<Vec<(RequestId, Record)>>,
    pub(crate) rows: Vec<Row>,
    /// Proposes draft tokens for the requests, or `None` if the engine doesn't use drafts.
    pub(crate) ahead: Option<Ahead>,
    /// Log-probabilities of the tokens that were chosen in the last step.
    pub(crate) chosen: Vec<(RequestId, Chosen)>,
    /// Returns the bytes of a token's text. The engine searches these bytes for stop texts.
    pub(crate) token_bytes: TokenBytes,
    /// Buffer for a copy of one row's logits. In this copy, a constraint sets the logits of
    /// forbidden tokens to −∞.
    pub(crate) masked: Vec<f32>,
}

/// A function that returns the bytes of a token's text.
pub type TokenBytes = Box<dyn Fn(u32) -> Vec<u8> + Send>;

impl<C: EngineCache, P: Pass<C>> Engine<C, P> {
    /// Runs one step: admits waiting requests, then computes the rows of all running requests in
    /// one forward pass. Reports each new token and each finished request to `on_event`. Does
    /// nothing if there are no requests.
    pub fn step(&mut self, on_event: &mut dyn FnMut(Event)) {
        self.chosen.clear();
        self.found.clear();
        self.record_ends();
        self.retire(on_event);
        self.admit();
        self.record_admissions();
        self.share();
        self.propose();
        self.reserve();
        self.rows.clear();
        for (i, (sequence, &rows)) in self.running.iter().zip(&self.shares).enumerate() {
            append_rows(sequence, rows, &mut self.rows);
            if let Some(ahead) = &self.ahead {
                ahead.append_rows(i, sequence, &mut self.rows);
            }
        }
        if self.rows.is_empty() {
            return;
        }
        self.counts.steps += 1;
        self.counts.rows += self.rows.len() as u64;
        self.counts.most_rows = self.counts.most_rows.max(self.rows.len());
        self.run();
        if let Some(ahead) = &mut self.ahead {
            ahead.passed(self.rows.len());
        }
        for (sequence, &rows) in self.running.iter().zip(&self.shares) {
            let slot = sequence.slot.expect("a running request has a slot");
            self.cache.remember(slot, &sequence.tokens[..sequence.num_computed + rows]);
        }
        self.choose(on_event);
        self.record_ends();
        self.retire(on_event);
    }

    /// Reserves room in the cache for the positions that the step will write, beginning with the
    /// oldest request. If a request doesn't fit, drops its drafts and tries again. If it still
    /// doesn't fit, preempts the youngest running request and tries again.
    fn reserve(&mut self) {
        let mut ready = 0;
        while ready < self.running.len() {
            let (sequence, rows) = (&self.running[ready], self.shares[ready]);
            let slot = sequence.slot.expect("a running request has a slot");
            let drafts = self.num_drafts(ready);
            if self.cache.reserve(slot, sequence.num_computed + rows + drafts) {
                ready += 1;
                continue;
            }
            if self.ahead.as_mut().is_some_and(|ahead| ahead.drop_drafts(ready)) {
                continue;
            }
            let (id, before) = (sequence.id, self.running.len());
            let stray = self.cache.pages_of_others(slot);
            assert!(
                before > 1 || stray == 0,
                "request {id} runs alone but finds no free page: {stray} pages belong to sequences \
                 that do not run"
            );
            assert!(before > 1, "request {id} does not fit into an empty cache");
            // A request that has just been admitted loses no work if it is preempted.
            let lost = self.running.last().is_some_and(|youngest| youngest.num_computed > 0);
            self.counts.preempted += u64::from(lost);
            self.preempt();
            assert!(self.running.len() < before, "`preempt` removed no request from `running`");
        }
        self.shares.truncate(ready);
    }

    /// Preempts the youngest running request: it waits again, ahead of all others. Releases its
    /// slot and all its positions in the cache. Keeps its tokens and its sampler. Once the request
    /// is admitted again, its tokens are computed again, and its answer continues as if it had not
    /// been interrupted.
    fn preempt(&mut self) {
        todo!("week3-day3 task 4: Engine::preempt")
    }

    /// Admits waiting requests, the oldest first, as long as slots are free.
    fn admit(&mut self) {
        todo!("week3-day1 task 4: Engine::admit")
    }

    /// Reports and removes every finished request, whether it was running or waiting. If a finished
    /// request has a batch slot, removes the slot's positions from the cache and releases the slot.
    /// A step must not allocate memory: `Vec::retain` shortens a list in place, whereas
    /// `Iterator::partition` allocates two new lists.
    fn retire(&mut self, on_event: &mut dyn FnMut(Event)) {
        todo!("week3-day1 task 4: Engine::retire")
    }
}

/// Appends a row to `out` for each of the next `rows` tokens of a request, beginning with the first
/// token that has not been computed. Each row has its token's position. Sets `logits` only in the
/// row of the request's last token. After any other token, the next token is already known.
///
/// # Panics
/// If the request has no slot, or if fewer than `rows` of its tokens remain to be computed.
pub fn append_rows(sequence: &Sequence, rows: usize, out: &mut Vec<Row>) {
    todo!("week3-day1 task 4: append_rows")
}
