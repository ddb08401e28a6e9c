//! Provided. What drafts cost on this machine, measured while a text is written; and how long to do
//! without them where they don't pay.

use super::draft_length::Costs;

/// Passes without a draft in the beginning, so that there is something to compare with.
const ALONE: u32 = 2;
/// How much a new measurement counts, compared with the mean of those before.
const WEIGHT: f64 = 0.25;
/// What a draft costs at least, in passes of a single row: a pass may be quicker with it by chance.
const LEAST: f64 = 1.0 / 64.0;
/// The first rest that is longer than the passes between two trials, and the longest.
const FIRST_REST: usize = 16;
const LONGEST_REST: usize = 512;

/// Times of passes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    alone: f64,
    passes_alone: u32,
    /// What a draft adds to a pass, with its drafting.
    draft: Option<f64>,
    /// Passes until drafts are tried again; and how many it will be after the next trial that
    /// brings nothing.
    rest: usize,
    next_rest: usize,
}

impl Pace {
    /// Whether the next pass should go without drafts.
    #[must_use]
    pub fn wants_none(&self) -> bool {
        self.passes_alone < ALONE || self.rest > 0
    }

    /// Says whether the last pass had drafts, and whether more of them would pay. A trial after
    /// which they don't is followed by a rest, each twice as long as the one before: a text that
    /// nobody can guess pays for a few trials, however long it becomes.
    pub fn judge(&mut self, drafted: bool, pays: bool) {
        if !drafted {
            self.rest = self.rest.saturating_sub(1);
        } else if pays {
            self.next_rest = 0;
        } else {
            self.rest = self.next_rest;
            self.next_rest = (2 * self.next_rest).clamp(FIRST_REST, LONGEST_REST);
        }
    }

    /// Takes the time of a pass of a single row and this many drafts. Far more than before is taken
    /// for another program's time, and counts as twice as much.
    pub fn observe(&mut self, drafts: usize, seconds: f64) {
        let mean = |before: f64, new: f64| before + WEIGHT * (new.min(2.0 * before) - before);
        if drafts == 0 {
            self.alone = if self.passes_alone == 0 { seconds } else { mean(self.alone, seconds) };
            self.passes_alone += 1;
        } else if self.alone > 0.0 {
            let new =
                ((seconds - self.alone) / drafts as f64).clamp(LEAST * self.alone, self.alone);
            self.draft = Some(self.draft.map_or(new, |before| mean(before, new)));
        }
    }

    /// In passes of a single row; `None` before there is a measurement.
    #[must_use]
    pub fn costs(&self) -> Option<Costs> {
        let draft = self.draft?;
        (self.alone > 0.0).then(|| Costs { row: draft / self.alone, draft: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::draft_length::{DraftLength, best_length},
        *,
    };

    #[test]
    fn costs_are_parts_of_a_pass_without_drafts() {
        let mut pace = Pace::default();
        assert!(pace.wants_none() && pace.costs().is_none());
        pace.observe(0, 0.5);
        pace.observe(0, 0.5);
        assert!(!pace.wants_none() && pace.costs().is_none());
        pace.observe(4, 1.0);
        assert_eq!(pace.costs(), Some(Costs { row: 0.25, draft: 0.0 }));
        // Quicker than without costs next to nothing.
        pace.observe(1, 0.25);
        assert_eq!(pace.costs(), Some(Costs { row: 0.1875 + LEAST / 4.0, draft: 0.0 }));
        // Another program had the processor.
        let before = pace.costs().expect("it has been measured").row;
        pace.observe(2, 50.0);
        let after = pace.costs().expect("it has been measured").row;
        assert!((after / before - 1.25).abs() < 1e-9, "{before} became {after}");
        pace.observe(0, 50.0);
        assert!((pace.alone / 0.5 - 1.25).abs() < 1e-9, "{}", pace.alone);
    }

    #[test]
    fn rests_grow_as_long_as_nothing_pays() {
        let mut pace = Pace::default();
        (0..ALONE).for_each(|_| pace.observe(0, 1.0));
        let mut rests = Vec::new();
        for pays in [false, false, false, true, false, false] {
            pace.judge(true, pays);
            let mut rest = 0;
            while pace.wants_none() {
                pace.judge(false, false);
                rest += 1;
            }
            rests.push(rest);
        }
        assert_eq!(rests, [0, 16, 32, 0, 0, 16]);
    }

    /// Drafts and time of a text that nobody can guess, of this many passes, where a draft costs
    /// `c` passes.
    fn unguessable(passes: usize, c: f64) -> (usize, f64) {
        let mut length = DraftLength::doubtful(8, Costs { row: 0.25, draft: 0.0 });
        let (mut pace, mut drafts, mut time) = (Pace::default(), 0, 0.0);
        for _ in 0..passes {
            let chosen = length.choose();
            let k = if pace.wants_none() { 0 } else { chosen };
            let took = 1.0 + c * k as f64;
            pace.observe(k, took);
            length.observe(k, 0);
            length.costs = pace.costs().unwrap_or(length.costs);
            pace.judge(k > 0, best_length(length.rate(), length.costs, 8) > 0);
            (drafts, time) = (drafts + k, time + took);
        }
        (drafts, time)
    }

    #[test]
    fn a_text_that_nobody_can_guess_costs_little() {
        for passes in [100, 400, 2000] {
            for c in [1.0 / 64.0, 0.1, 0.25, 0.4, 0.8] {
                let (drafts, time) = unguessable(passes, c);
                let more = time / passes as f64 - 1.0;
                assert!(more < 0.035, "{passes} passes, {c} each: {drafts} drafts, {more} more");
            }
        }
        assert_eq!(unguessable(400, 0.25).0, 6);
    }
}
