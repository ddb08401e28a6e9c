//! Pauses drafting when it doesn't pay off. The cost of drafts is measured during generation.

use crate::week3::{draft_length::Costs, step_times::StepTimes};

/// Number of passes without a draft at the start, for comparison.
const ALONE: u32 = 2;
/// The minimum cost of a draft, in passes of a single row. It is needed because a pass with a draft
/// may, by chance, be measured as faster than one without.
const LEAST: f64 = 1.0 / 64.0;
/// Length of the first pause, in passes.
const FIRST_PAUSE: usize = 16;
/// Maximum length of a pause, in passes.
const LONGEST_PAUSE: usize = 512;

/// The measured times of passes, and the current pause between two trials of drafting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DraftBackoff {
    step_times: StepTimes,
    passes_alone: u32,
    /// Number of passes left in the current pause.
    pause: usize,
    /// The length of the pause after the next trial that doesn't pay off.
    next_pause: usize,
}

impl DraftBackoff {
    /// Returns whether the next pass should have no drafts.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.passes_alone < ALONE || self.pause > 0
    }

    /// Records whether the last pass had drafts, and whether drafting pays off at the current costs
    /// and acceptance rate.
    ///
    /// If several trials in a row don't pay off, there is no pause after the first. The pause after
    /// the second is `FIRST_PAUSE` passes. Each later trial doubles the pause, up to
    /// `LONGEST_PAUSE`. So even a very long unpredictable text has only a few trials.
    pub fn record(&mut self, drafted: bool, pays: bool) {
        if !drafted {
            self.pause = self.pause.saturating_sub(1);
        } else if pays {
            self.next_pause = 0;
        } else {
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        }
    }

    /// Records the time of a pass over one row and `drafts` drafts.
    pub fn observe(&mut self, drafts: usize, seconds: f64) {
        self.passes_alone += u32::from(drafts == 0);
        self.step_times.observe(1 + drafts, seconds);
    }

    /// Returns the costs of a draft, as multiples of a pass over a single row. The field `row`
    /// includes the cost of proposing, so `draft` is 0. Returns `None` before the costs have been
    /// measured.
    #[must_use]
    pub fn costs(&self) -> Option<Costs> {
        let Costs { row, .. } = self.step_times.draft_costs(1, 0.0)?;
        Some(Costs { row: row.clamp(LEAST, 1.0), draft: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::week3::draft_length::{DraftLength, best_length};

    #[test]
    fn costs_are_relative_to_a_pass_without_drafts() {
        let mut backoff = DraftBackoff::default();
        assert!(backoff.is_paused() && backoff.costs().is_none());
        backoff.observe(0, 0.5);
        backoff.observe(0, 0.5);
        assert!(!backoff.is_paused() && backoff.costs().is_none());
        backoff.observe(4, 1.0);
        assert_eq!(backoff.costs(), Some(Costs { row: 0.25, draft: 0.0 }));
        // If a pass with a draft is measured as faster than one without, a row costs `LEAST`.
        let mut quick = DraftBackoff::default();
        for (drafts, seconds) in [(0, 0.5), (0, 0.5), (1, 0.25)] {
            quick.observe(drafts, seconds);
        }
        assert_eq!(quick.costs(), Some(Costs { row: LEAST, draft: 0.0 }));
    }

    #[test]
    fn pauses_grow_until_drafts_pay_off() {
        let mut backoff = DraftBackoff::default();
        (0..ALONE).for_each(|_| backoff.observe(0, 1.0));
        let mut rests = Vec::new();
        for pays in [false, false, false, true, false, false] {
            backoff.record(true, pays);
            let mut rest = 0;
            while backoff.is_paused() {
                backoff.record(false, false);
                rest += 1;
            }
            rests.push(rest);
        }
        assert_eq!(rests, [0, 16, 32, 0, 0, 16]);
    }

    /// Returns the number of drafts and the total time of `passes` passes over an unpredictable
    /// text. A pass without drafts takes 1. Each draft adds `c`.
    fn unguessable(passes: usize, c: f64) -> (usize, f64) {
        let mut length = DraftLength::doubtful(8, Costs { row: 0.25, draft: 0.0 });
        let (mut backoff, mut drafts, mut time) = (DraftBackoff::default(), 0, 0.0);
        for _ in 0..passes {
            let chosen = length.choose();
            let k = if backoff.is_paused() { 0 } else { chosen };
            let took = 1.0 + c * k as f64;
            backoff.observe(k, took);
            length.observe(k, 0);
            length.costs = backoff.costs().unwrap_or(length.costs);
            backoff.record(k > 0, best_length(length.rate(), length.costs, 8) > 0);
            (drafts, time) = (drafts + k, time + took);
        }
        (drafts, time)
    }

    #[test]
    fn an_unpredictable_text_costs_little() {
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
