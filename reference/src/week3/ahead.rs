//! Provided. Speculation in a batch: drafts of the requests of a step, and how many each gets.

use std::time::Instant;

use super::{
    draft_length::{Costs, DraftLength},
    propose::Proposer,
    request::{Phase, Sequence},
    tempo::Tempo,
};
use crate::week2::rows::Row;

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
    tempo: Tempo,
    /// `[sequences]`, what was accepted in each place.
    lengths: Vec<DraftLength>,
    /// `[running]`, how many drafts each may have in this step.
    most: Vec<usize>,
    /// `[running]`, the drafts of this step.
    drafts: Vec<Vec<u32>>,
    counts: Drafted,
    /// When the pass began, if its time tells what rows cost.
    start: Option<Instant>,
    /// Steps that were measured without drafts.
    alone: usize,
}

/// Steps without drafts in the beginning, so that there is something to compare with.
const ALONE: usize = 2;
/// What a further row is taken to cost before it has been measured.
const UNKNOWN: Costs = Costs { row: 0.25, draft: 0.0 };

/// Where the cache holds it.
fn place(sequence: &Sequence) -> usize {
    sequence.slot.expect("a request that runs has a place")
}

impl Ahead {
    /// For an engine with so many places; at most `most` drafts for a request in a step.
    #[must_use]
    pub fn new(
        proposer: Box<dyn Proposer>,
        places: usize,
        (most, pricing): (usize, Pricing),
    ) -> Self {
        let costs = if let Pricing::Fixed(costs) = pricing { costs } else { UNKNOWN };
        Self {
            proposer,
            pricing,
            tempo: Tempo::default(),
            lengths: vec![DraftLength::new(most, costs); places],
            most: Vec::with_capacity(places),
            drafts: (0..places).map(|_| Vec::with_capacity(most)).collect(),
            counts: Drafted::default(),
            start: None,
            alone: 0,
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
        let decodes = |(sequence, &rows): (&Sequence, &usize)| {
            sequence.phase == Phase::Decoding && rows == 1 && sequence.num_left() == 1
        };
        let requests = running.iter().zip(shares).filter(|&one| decodes(one)).count();
        // A step with a prompt in it says little of what a row costs.
        let measures = self.pricing == Pricing::Measured && requests == running.len();
        self.start = (measures && requests > 0).then(Instant::now);
        if requests == 0 || self.pricing == Pricing::Measured && self.alone < ALONE {
            return;
        }
        let measured = match self.pricing {
            Pricing::Measured => self.tempo.costs(requests),
            Pricing::Fixed(_) => None,
        };
        self.most.clear();
        for one in running.iter().zip(shares) {
            self.most.push(0);
            if !decodes(one) {
                continue;
            }
            let (sequence, _) = one;
            let length = &mut self.lengths[place(sequence)];
            length.costs = measured.unwrap_or(length.costs);
            let limits = &sequence.limits;
            let new = sequence.tokens.len() - sequence.prompt_len;
            // One token comes without a draft.
            let left = limits.max_new_tokens.saturating_sub(new + 1);
            let context = limits.context.saturating_sub(sequence.tokens.len() + 1);
            let most = length.choose().min(left).min(context).min(room / requests);
            *self.most.last_mut().expect("it was pushed") = most;
        }
        if self.most.iter().all(|&most| most == 0) {
            return;
        }
        let start = Instant::now();
        self.proposer.propose(running, &self.most, &mut self.drafts[..running.len()]);
        let drafts = self.drafts.iter().map(Vec::len).sum();
        if self.start.is_some() {
            self.tempo.observe_drafts(drafts, start.elapsed().as_secs_f64());
            self.start = Some(Instant::now());
        }
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

    /// Appends the rows of request `i`'s drafts, behind those of its tokens.
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

    /// Says that the pass over so many rows has ended.
    pub fn passed(&mut self, rows: usize) {
        if let Some(start) = self.start.take() {
            self.tempo.observe(rows, start.elapsed().as_secs_f64());
            self.alone += usize::from(self.alone < ALONE);
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
