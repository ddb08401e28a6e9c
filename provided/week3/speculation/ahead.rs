//! Speculation in a batch. This module drafts tokens for the requests of a step, and decides how
//! many drafts each request gets.

use std::time::Instant;

use crate::week2::rows::Row;
use crate::week3::{
    draft_length::{Costs, DraftLength, best_length},
    propose::Proposer,
    request::{Phase, Sequence},
    step_times::StepTimes,
};

/// Counters of speculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drafted {
    /// Number of drafts that were proposed.
    pub drafted: u64,
    /// Number of drafts that were accepted.
    pub accepted: u64,
}

/// The source of the costs that determine the number of drafts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pricing {
    /// Uses these costs.
    Fixed(Costs),
    /// Measures the costs. The number of drafts then depends on timing, but the answers do not.
    Measured,
}

/// Proposes tokens for the requests of an engine, and decides how many.
pub struct Ahead {
    proposer: Box<dyn Proposer>,
    pricing: Pricing,
    step_times: StepTimes,
    /// Mean seconds per draft. Recent drafts weigh more.
    draft_seconds: Option<f64>,
    /// Maximum number of drafts per request in a step.
    most: usize,
    /// `[sequences]`, the acceptance rate and the number of drafts of each batch slot.
    lengths: Vec<DraftLength>,
    /// `[running]`, the maximum number of drafts of each request in this step.
    wanted: Vec<usize>,
    /// `[running]`, the drafts of each request in this step.
    drafts: Vec<Vec<u32>>,
    counts: Drafted,
    /// When the pass started, if its time is measured.
    start: Option<Instant>,
    /// Number of steps left in the current pause. During a pause, nothing is drafted.
    rest: usize,
    /// The length of the pause after the next trial that doesn't pay off.
    next_rest: usize,
}

/// Number of steps without drafts at the start, for comparison. Also the length of the first pause
/// after a trial that didn't pay off.
const ALONE: usize = 2;
/// Weight of a new measurement in a mean. The earlier measurements share the remaining weight.
const WEIGHT: f64 = 0.25;
/// Maximum length of a pause without drafts, in steps.
const LONGEST_REST: usize = 512;
/// Assumed costs of one more row and of a draft until they have been measured.
const UNKNOWN: Costs = Costs { row: 0.25, draft: 0.1 };
/// Before its first draft for a request, the drafter must catch up with the request. This is the
/// maximum time for that, as a share of the request's remaining decode time. It is a cautious guess
/// of the time that drafts save.
const SAVED: f64 = 0.2;

/// Returns the batch slot of a running request.
fn place(sequence: &Sequence) -> usize {
    sequence.slot.expect("a running request has a slot")
}

/// Returns whether the request decodes in this step: its only row is for the token chosen last.
fn decodes(sequence: &Sequence, rows: usize) -> bool {
    sequence.phase == Phase::Decoding && rows == 1 && sequence.num_left() == 1
}

impl Ahead {
    /// Creates an `Ahead` for an engine with `slots` batch slots. A request gets at most `most`
    /// drafts in a step.
    #[must_use]
    pub fn new(proposer: Box<dyn Proposer>, slots: usize, most: usize, pricing: Pricing) -> Self {
        let costs = if let Pricing::Fixed(costs) = pricing { costs } else { UNKNOWN };
        Self {
            proposer,
            pricing,
            step_times: StepTimes::default(),
            draft_seconds: None,
            most,
            lengths: vec![DraftLength::new(most, costs); slots],
            wanted: Vec::with_capacity(slots),
            drafts: (0..slots).map(|_| Vec::with_capacity(most)).collect(),
            counts: Drafted::default(),
            start: None,
            rest: if pricing == Pricing::Measured { ALONE } else { 0 },
            next_rest: ALONE,
        }
    }

    /// Returns how many tokens were drafted and how many were accepted.
    #[must_use]
    pub fn counts(&self) -> Drafted {
        self.counts
    }

    /// Proposes tokens for the requests that decode in this step. `shares` holds each request's
    /// number of rows, without drafts. All drafts together have at most `room` rows.
    pub fn propose(&mut self, running: &[Sequence], shares: &[usize], room: usize) {
        self.drafts.iter_mut().for_each(Vec::clear);
        let decoding = running.iter().zip(shares).filter(|&(one, &rows)| decodes(one, rows));
        let requests = decoding.count();
        // The time of a step with a prompt says little about the cost of a row.
        let measures = self.pricing == Pricing::Measured && requests == running.len();
        self.start = (measures && requests > 0).then(Instant::now);
        if requests == 0 {
            return;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        if !self.want(running, shares, requests, room) {
            return;
        }
        // While a drafter catches up with a text, its time says little about the cost of a draft.
        let missing = running.iter().zip(&self.wanted).filter(|(_, wanted)| **wanted > 0);
        let usual = missing.map(|(one, _)| self.proposer.num_missing(one)).all(|n| n <= 2);
        let start = Instant::now();
        self.proposer.propose(running, &self.wanted, &mut self.drafts[..running.len()]);
        if self.start.is_some() {
            if usual {
                self.note_draft_time(start.elapsed().as_secs_f64());
            }
            self.start = Some(Instant::now());
        }
    }

    /// Records how long this step's drafts took.
    fn note_draft_time(&mut self, seconds: f64) {
        let drafts: usize = self.drafts.iter().map(Vec::len).sum();
        if drafts > 0 {
            let new = seconds / drafts as f64;
            let before = self.draft_seconds.unwrap_or(new);
            self.draft_seconds = Some(before + WEIGHT * (new - before));
        }
    }

    /// Sets `wanted`: the maximum number of drafts of each request. Returns false if all are 0.
    fn want(
        &mut self,
        running: &[Sequence],
        shares: &[usize],
        requests: usize,
        room: usize,
    ) -> bool {
        let measured = self.step_times.draft_costs(requests, self.draft_seconds.unwrap_or(0.0));
        let unknown = self.pricing == Pricing::Measured && measured.is_none();
        self.wanted.clear();
        // The request that drafts anyway if drafts pay off for no request.
        let mut probe: Option<(usize, usize)> = None;
        for (i, (sequence, &rows)) in running.iter().zip(shares).enumerate() {
            self.wanted.push(0);
            if !decodes(sequence, rows) {
                continue;
            }
            let length = &mut self.lengths[place(sequence)];
            length.costs = measured.unwrap_or(length.costs);
            let limits = &sequence.limits;
            let new = sequence.tokens.len() - sequence.prompt_len;
            // A step yields one token more than its accepted drafts, so one token needs no draft.
            let left = limits.max_new_tokens.saturating_sub(new + 1);
            let context = limits.context.saturating_sub(sequence.tokens.len() + 1);
            let most = left.min(context).min(room / requests);
            let missing = self.proposer.num_missing(sequence);
            if most == 0 || missing as f64 * length.costs.draft > SAVED * left as f64 {
                continue;
            }
            let best = best_length(length.rate(), length.costs, self.most).min(most);
            if best == 0 || unknown {
                if probe.is_none_or(|(_, least)| missing < least) {
                    probe = Some((i, missing));
                }
                continue;
            }
            self.wanted[i] = best;
        }
        if self.wanted.iter().any(|&wanted| wanted > 0) {
            self.next_rest = ALONE;
            return true;
        }
        let Some((i, _)) = probe else { return false };
        // Occasionally, one request drafts anyway. It drafts two tokens if the costs are unknown,
        // because estimating a row's cost needs steps of two sizes.
        self.wanted[i] = if unknown { self.most.min(room / requests).min(2) } else { 1 };
        if !unknown {
            self.rest = self.next_rest;
            self.next_rest = LONGEST_REST.min(2 * self.next_rest);
        }
        true
    }

    /// Returns the drafts of the running request `i`.
    #[must_use]
    pub fn drafts(&self, i: usize) -> &[u32] {
        self.drafts.get(i).map_or(&[], Vec::as_slice)
    }

    /// Removes the drafts of request `i` because the cache has no room for them. Returns whether
    /// there were any.
    pub fn drop_drafts(&mut self, i: usize) -> bool {
        let had = !self.drafts[i].is_empty();
        self.drafts[i].clear();
        had
    }

    /// Appends the rows of request `i`'s drafts to `out`. The rows of the request's own tokens must
    /// already be in `out`.
    pub fn append_rows(&self, i: usize, sequence: &Sequence, out: &mut Vec<Row>) {
        let slot = place(sequence);
        let rows = self.drafts(i).iter().zip(sequence.tokens.len()..);
        out.extend(rows.map(|(&token, position)| Row {
            token,
            position,
            sequence: slot,
            logits: true,
        }));
    }

    /// Records the end of a pass over `rows` rows, and its time if it is measured.
    pub fn passed(&mut self, rows: usize) {
        if let Some(start) = self.start.take() {
            self.step_times.observe(rows, start.elapsed().as_secs_f64());
        }
    }

    /// Records how many drafts of request `i` were accepted. `slot` is the request's batch slot.
    /// Returns whether any draft was rejected.
    pub fn observe(&mut self, i: usize, slot: usize, accepted: usize) -> bool {
        let drafted = self.drafts(i).len();
        self.counts.drafted += drafted as u64;
        self.counts.accepted += accepted as u64;
        self.lengths[slot].observe(drafted, accepted);
        accepted < drafted
    }
}
