//! Day 6: the number of drafts.

use super::{accept::few, rust::draft_length as rust};
use crate::prelude::*;

exports! {
    fn expected_tokens, best_length;
    class DraftLength;
}

fn rate_of(rate: Double) -> PyResult<f64> {
    if (0.0..=1.0).contains(&rate.0) {
        return Ok(rate.0);
    }
    Err(wrong("rate", rate.0, "a probability, 0 to 1"))
}

fn costs(row: Double, draft: Double) -> PyResult<rust::Costs> {
    for (argument, x) in [("row", row.0), ("draft", draft.0)] {
        refuse_if!(!(0.0..=1e9).contains(&x); argument, x; "a cost from 0 to 1e9");
    }
    Ok(rust::Costs { row: row.0, draft: draft.0 })
}

/// Returns the average number of tokens that a pass with `k` drafts adds. `rate` is the probability
/// that a draft is accepted.
#[pyfunction]
fn expected_tokens(rate: Double, k: Count) -> PyResult<f64> {
    let (rate, k) = (rate_of(rate)?, few("k", k)?);
    call(move || rust::expected_tokens(rate, k))
}

/// Returns the best number of drafts for a pass, from 0 to `most`: the one with the most tokens per
/// cost. Each additional row costs `row`, and proposing a token costs `draft`.
#[pyfunction]
fn best_length(rate: Double, row: Double, draft: Double, most: Count) -> PyResult<usize> {
    let (rate, costs, most) = (rate_of(rate)?, costs(row, draft)?, few("most", most)?);
    call(move || rust::best_length(rate, costs, most))
}

/// Counts accepted drafts, and decides how many tokens to draft next.
#[pyclass]
pub(crate) struct DraftLength {
    length: Kept<rust::DraftLength>,
    most: usize,
}

#[pymethods]
impl DraftLength {
    #[new]
    fn new(most: Count, row: Double, draft: Double) -> PyResult<Self> {
        let (costs, most) = (costs(row, draft)?, few("most", most)?);
        Ok(Self { length: Kept::new(rust::DraftLength::new(most, costs)), most })
    }

    /// Records the outcome of a pass's drafts.
    fn observe(&self, drafted: Count, accepted: Count) -> PyResult<()> {
        let (drafted, accepted) = (few("drafted", drafted)?, accepted.0);
        refuse_if!(accepted > drafted; "accepted", accepted;
            "at most {drafted}, as many as were drafted");
        self.length.call(move |length| length.observe(drafted, accepted))
    }

    /// Returns how many tokens to draft for the next pass.
    fn choose(&self) -> PyResult<usize> {
        self.length.call(rust::DraftLength::choose)
    }

    /// Returns the fraction of the tested drafts that were accepted.
    fn rate(&self) -> PyResult<f64> {
        self.length.call(|length| length.rate())
    }

    fn __repr__(&self) -> String {
        format!("DraftLength({})", self.most)
    }
}
