//! Day 2: the waiting times of requests.

use super::rust::timeline::{self as rust, Moment};
use crate::prelude::*;

exports! {
    fn quantile;
    class Record;
}

/// When each event of a request happened. A moment is a pair: steps and rows so far.
#[pyclass]
pub(crate) struct Record {
    /// The record, and the moment of the latest token, or of the arrival before the first token.
    record: Kept<(rust::Record, Moment)>,
}

fn pair(moment: Moment) -> (u64, u64) {
    (moment.steps, moment.rows)
}

#[pymethods]
impl Record {
    #[new]
    fn new(steps: Count, rows: Count) -> Self {
        let now = Moment { steps: steps.0 as u64, rows: rows.0 as u64 };
        Self { record: Kept::new((rust::Record::new(now), now)) }
    }

    /// Records that a token was chosen at this moment, which is not before the previous token.
    fn token(&self, steps: Count, rows: Count) -> PyResult<()> {
        let now = Moment { steps: steps.0 as u64, rows: rows.0 as u64 };
        let before = self.record.call(move |(record, latest)| {
            if now.steps < latest.steps || now.rows < latest.rows {
                return Some(*latest);
            }
            *latest = now;
            record.token(now);
            None
        })?;
        let Some(before) = before else { return Ok(()) };
        let (argument, found, least) = if now.steps < before.steps {
            ("steps", now.steps, before.steps)
        } else {
            ("rows", now.rows, before.rows)
        };
        Err(wrong(argument, found, format_args!("{least} or more, as at the last token")))
    }

    /// Returns the steps and rows from the arrival to the first token, or None before that token.
    fn time_to_first_token(&self) -> PyResult<Option<(u64, u64)>> {
        self.record.call(|(record, _)| record.time_to_first_token().map(pair))
    }

    /// Returns the maximum steps and the maximum rows between two consecutive tokens.
    fn longest_gap(&self) -> PyResult<(u64, u64)> {
        self.record.call(|(record, _)| pair(record.longest_gap))
    }

    fn __repr__(&self) -> &'static str {
        "Record(...)"
    }
}

/// Returns the `q`-quantile of `values` by nearest rank, or None if there are no values.
#[pyfunction]
fn quantile(values: Vec<Long>, q: Double) -> PyResult<Option<u64>> {
    let q = q.0;
    refuse_if!(!(0.0..=1.0).contains(&q); "q", q; "0 to 1");
    call(move || {
        let mut values: Vec<u64> = values.into_iter().map(|value| value.0).collect();
        rust::quantile(&mut values, q)
    })
}
