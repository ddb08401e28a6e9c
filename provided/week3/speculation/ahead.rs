//! Speculation in a batch: drafts of the requests of a step, and how many each gets.

use std::time::Instant;

use crate::week2::rows::Row;
use crate::week3::{
    draft_length::{Costs, DraftLength, best_length},
    propose::Proposer,
    request::{Phase, Sequence},
    step_times::StepTimes,
};

/// What speculation has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drafted {
    /// Rows that were proposed.
    pub drafted: u64,
    /// How many of them became part of an answer.
    pub accepted: u64,
}

/// Where the number of drafts comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pricing {
    /// From these costs.
    Fixed(Costs),
    /// From costs that are measured. How many are drafted depends on time, then; no answer does.
    Measured,
}

/// Who proposes tokens for the requests of an engine, and how many.
pub struct Ahead {
    proposer: Box<dyn Proposer>,
    pricing: Pricing,
    step_times: StepTimes,
    /// What a draft takes, recent ones counting more.
    draft_seconds: Option<f64>,
    /// At most this many drafts for a request in a step.
    most: usize,
    /// `[sequences]`, what was accepted in each place.
    lengths: Vec<DraftLength>,
    /// `[running]`, how many drafts each may have in this step.
    wanted: Vec<usize>,
    /// `[running]`, the drafts of this step.
    drafts: Vec<Vec<u32>>,
    counts: Drafted,
    /// When the pass began, if its time tells what rows cost.
    start: Option<Instant>,
    /// Steps until drafts are tried again, where they do not pay; and how many it will be next
    /// time.
    rest: usize,
    next_rest: usize,
}

/// Steps without drafts at first, for comparison.
const ALONE: usize = 2;
/// How much a new measurement counts, compared with the mean of those before.
const WEIGHT: f64 = 0.25;
/// The longest rest.
const LONGEST_REST: usize = 512;
/// What a further row and a draft are taken to cost before they have been measured.
const UNKNOWN: Costs = Costs { row: 0.25, draft: 0.1 };
/// What drafts may save of a request's time, at a modest guess: so much may be spent to begin.
const SAVED: f64 = 0.2;

/// Where the cache holds it.
fn place(sequence: &Sequence) -> usize {
    sequence.slot.expect("a request that runs has a place")
}

/// Whether its row in this step is a new token's.
fn decodes(sequence: &Sequence, rows: usize) -> bool {
    sequence.phase == Phase::Decoding && rows == 1 && sequence.num_left() == 1
}

impl Ahead {
    /// For an engine with this many batch slots; at most `most` drafts for a request in a step.
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

    /// What has been done so far.
    #[must_use]
    pub fn counts(&self) -> Drafted {
        self.counts
    }

    /// Proposes tokens for those that decode and have a row in this step (`shares`), in at most
    /// `room` further rows, all together.
    pub fn propose(&mut self, running: &[Sequence], shares: &[usize], room: usize) {
        self.drafts.iter_mut().for_each(Vec::clear);
        let decoding = running.iter().zip(shares).filter(|&(one, &rows)| decodes(one, rows));
        let requests = decoding.count();
        // A step with a prompt in it says little of what a row costs.
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
        // Whoever catches up with a text says little of what a draft costs.
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

    /// Takes the time in which the drafts of this step were made.
    fn note_draft_time(&mut self, seconds: f64) {
        let drafts: usize = self.drafts.iter().map(Vec::len).sum();
        if drafts > 0 {
            let new = seconds / drafts as f64;
            let before = self.draft_seconds.unwrap_or(new);
            self.draft_seconds = Some(before + WEIGHT * (new - before));
        }
    }

    /// How many drafts each request gets; false if none.
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
        // Of those for which nothing pays, the one to try it with.
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
            // One token comes without a draft.
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
        // One token of one request, now and then; two kinds of steps tell what rows cost.
        self.wanted[i] = if unknown { self.most.min(room / requests).min(2) } else { 1 };
        if !unknown {
            self.rest = self.next_rest;
            self.next_rest = LONGEST_REST.min(2 * self.next_rest);
        }
        true
    }

    /// The drafts of the running request `i`.
    #[must_use]
    pub fn drafts(&self, i: usize) -> &[u32] {
        self.drafts.get(i).map_or(&[], Vec::as_slice)
    }

    /// Takes back those of request `i`, for which there is no room. Returns whether there were any.
    pub fn drop_drafts(&mut self, i: usize) -> bool {
        let had = !self.drafts[i].is_empty();
        self.drafts[i].clear();
        had
    }

    /// Appends the rows of request `i`'s drafts, after those of its tokens.
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

    /// Says that a pass over this many rows has ended.
    pub fn passed(&mut self, rows: usize) {
        if let Some(start) = self.start.take() {
            self.step_times.observe(rows, start.elapsed().as_secs_f64());
        }
    }

    /// Says how many drafts of request `i`, which has this place, were accepted. Returns whether
    /// one was not.
    pub fn observe(&mut self, i: usize, slot: usize, accepted: usize) -> bool {
        let drafted = self.drafts(i).len();
        self.counts.drafted += drafted as u64;
        self.counts.accepted += accepted as u64;
        self.lengths[slot].observe(drafted, accepted);
        accepted < drafted
    }
}
