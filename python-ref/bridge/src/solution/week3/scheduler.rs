//! Day 2: shares of a step.

use pyo3::prelude::*;

use super::rust::scheduler::{self as rust, Load};
use crate::{background::call, convert::Count, shapes::wrong};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Scheduler>()?;
    m.add_function(wrap_pyfunction!(share_prompts, m)?)?;
    m.add_function(wrap_pyfunction!(take_turns, m)?)
}

/// Tokens left, whether it decodes, and the steps since it had a row.
type Loads = Vec<(Count, bool, Count)>;

fn loads(loads: Loads) -> Vec<Load> {
    let load = |(left, decoding, waited): (Count, bool, Count)| Load {
        left: left.0,
        decoding,
        waited: waited.0,
    };
    loads.into_iter().map(load).collect()
}

/// Shares a budget of rows among the requests of a step.
#[pyclass(frozen)]
pub(crate) struct Scheduler(rust::Scheduler);

#[pymethods]
impl Scheduler {
    #[new]
    fn new(budget: Count, reserved: Count) -> PyResult<Self> {
        let (budget, reserved) = (budget.0, reserved.0);
        if budget < 2 {
            return Err(wrong("budget", &budget.to_string(), "2 or more"));
        }
        if !(1..budget).contains(&reserved) {
            let expected = format!("1 to {}, less than the budget", budget - 1);
            return Err(wrong("reserved", &reserved.to_string(), &expected));
        }
        Ok(Self(rust::Scheduler { budget, reserved }))
    }

    /// How many rows each request gets, the oldest first; a load is `(left, decoding, waited)`.
    fn shares(&self, py: Python<'_>, loads: Loads) -> PyResult<Vec<usize>> {
        let (scheduler, loads) = (self.0, self::loads(loads));
        call(py, move || {
            let mut out = Vec::new();
            scheduler.shares(&loads, &mut out);
            out
        })
    }

    /// How many rows of the step go to requests that decode.
    fn decoding_rows(&self, py: Python<'_>, loads: Loads) -> PyResult<usize> {
        let (scheduler, loads) = (self.0, self::loads(loads));
        call(py, move || scheduler.decoding_rows(&loads))
    }

    fn __repr__(&self) -> String {
        let rust::Scheduler { budget, reserved } = self.0;
        format!("Scheduler(budget={budget}, reserved={reserved})")
    }
}

/// The shares when `rows` rows go to prompts, the oldest first.
#[pyfunction]
fn share_prompts(py: Python<'_>, loads: Loads, rows: Count) -> PyResult<Vec<usize>> {
    let loads = self::loads(loads);
    call(py, move || {
        let mut out = vec![0; loads.len()];
        rust::share_prompts(&loads, rows.0, &mut out);
        out
    })
}

/// The shares when `rows` of the requests that decode get a row each, those that have waited longest.
#[pyfunction]
fn take_turns(py: Python<'_>, loads: Loads, rows: Count) -> PyResult<Vec<usize>> {
    let loads = self::loads(loads);
    call(py, move || {
        let mut out = vec![0; loads.len()];
        rust::take_turns(&loads, rows.0, &mut out);
        out
    })
}
