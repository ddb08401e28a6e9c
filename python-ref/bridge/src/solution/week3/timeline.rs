//! Day 2: how long requests wait.

use pyo3::prelude::*;

use super::rust::timeline::{self as rust, Moment};
use crate::{
    background::{Kept, call},
    convert::{Count, Double},
    shapes::wrong,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Record>()?;
    m.add_function(wrap_pyfunction!(quantile, m)?)
}

/// When what happened to a request. A moment is a pair: steps and rows so far.
#[pyclass]
pub(crate) struct Record {
    record: Kept<rust::Record>,
    now: Moment,
}

fn pair(moment: Moment) -> (u64, u64) {
    (moment.steps, moment.rows)
}

#[pymethods]
impl Record {
    #[new]
    fn new(steps: Count, rows: Count) -> Self {
        let now = Moment { steps: steps.0 as u64, rows: rows.0 as u64 };
        Self { record: Kept::new(rust::Record::new(now)), now }
    }

    /// A token was chosen at this moment, which is not before the one before.
    fn token(&mut self, py: Python<'_>, steps: Count, rows: Count) -> PyResult<()> {
        let now = Moment { steps: steps.0 as u64, rows: rows.0 as u64 };
        if now.steps < self.now.steps || now.rows < self.now.rows {
            let expected = format!("a moment from {:?} on", pair(self.now));
            return Err(wrong("steps, rows", &format!("{:?}", pair(now)), &expected));
        }
        self.now = now;
        self.record.call(py, move |record| record.token(now))
    }

    /// Steps and rows from its coming to its first token.
    fn time_to_first_token(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        self.record.call(py, |record| record.time_to_first_token().map(pair))
    }

    /// The most steps and the most rows between a token and the next.
    fn longest_gap(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.record.call(py, |record| pair(record.longest_gap))
    }

    fn __repr__(&self) -> &'static str {
        "Record(...)"
    }
}

/// The `q`-quantile of whole numbers, by nearest rank.
#[pyfunction]
fn quantile(py: Python<'_>, values: Vec<u64>, q: Double) -> PyResult<Option<u64>> {
    let q = q.0;
    if !(0.0..=1.0).contains(&q) {
        return Err(wrong("q", &q.to_string(), "0 to 1"));
    }
    call(py, move || {
        let mut values = values;
        rust::quantile(&mut values, q)
    })
}
