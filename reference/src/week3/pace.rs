//! Provided. What drafts cost on this machine, measured while a text is written.

use super::draft_length::Costs;

/// Passes without a draft in the beginning, so that there is something to compare with.
const ALONE: u32 = 2;
/// What a new measurement counts beside the mean of those before.
const WEIGHT: f64 = 0.25;

/// Times of passes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pace {
    alone: f64,
    passes_alone: u32,
    /// What a draft adds to a pass, with its drafting.
    draft: Option<f64>,
}

impl Pace {
    /// Whether the next pass should go without drafts.
    #[must_use]
    pub fn wants_none(&self) -> bool {
        self.passes_alone < ALONE
    }

    /// Takes the time of a pass of a single row and so many drafts.
    pub fn observe(&mut self, drafts: usize, seconds: f64) {
        let mean = |before: f64, new: f64| before + WEIGHT * (new - before);
        if drafts == 0 {
            self.alone = if self.passes_alone == 0 { seconds } else { mean(self.alone, seconds) };
            self.passes_alone += 1;
        } else if self.alone > 0.0 {
            let new = ((seconds - self.alone) / drafts as f64).max(0.0);
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
    use super::*;

    #[test]
    fn costs_are_parts_of_a_pass_without_drafts() {
        let mut pace = Pace::default();
        assert!(pace.wants_none() && pace.costs().is_none());
        pace.observe(0, 0.5);
        pace.observe(0, 0.5);
        assert!(!pace.wants_none() && pace.costs().is_none());
        pace.observe(4, 1.0);
        assert_eq!(pace.costs(), Some(Costs { row: 0.25, draft: 0.0 }));
        // Quicker than without is nothing for it.
        pace.observe(1, 0.25);
        assert_eq!(pace.costs(), Some(Costs { row: 0.1875, draft: 0.0 }));
    }
}
