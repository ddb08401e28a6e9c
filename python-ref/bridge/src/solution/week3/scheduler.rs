//! Day 2: shares of a step.

use super::rust::scheduler::{self as rust, Load};
use crate::prelude::*;

exports! {
    fn share_prompts, take_turns;
    class Scheduler;
}

/// For each request: tokens left, whether it decodes, and steps since it last had a row.
type Loads = Vec<(Count, bool, Count)>;

fn loads(loads: Loads) -> PyResult<Vec<Load>> {
    let load = |(left, decoding, waited): (Count, bool, Count)| Load {
        left: left.0,
        decoding,
        waited: waited.0,
    };
    let loads: Vec<Load> = loads.into_iter().map(load).collect();
    let left = loads.iter().try_fold(0usize, |sum, load| sum.checked_add(load.left));
    refuse_if!(left.is_none(); "loads", "a total beyond 64 bits";
        "a total that fits in 64 bits");
    Ok(loads)
}

/// Divides a budget of rows among the requests of a step.
#[pyclass(frozen)]
pub(crate) struct Scheduler(rust::Scheduler);

#[pymethods]
impl Scheduler {
    #[new]
    fn new(budget: Count, reserved: Count) -> PyResult<Self> {
        let (budget, reserved) = (budget.0, reserved.0);
        refuse_if!(budget < 2; "budget", budget; "2 or more");
        refuse_if!(!(1..budget).contains(&reserved); "reserved", reserved;
            "1 to {}, less than the budget", budget - 1);
        Ok(Self(rust::Scheduler { budget, reserved }))
    }

    /// Returns the number of rows for each request. `loads` lists `(left, decoding, waited)`,
    /// oldest first.
    fn shares(&self, loads: Loads) -> PyResult<Vec<usize>> {
        let (scheduler, loads) = (self.0, self::loads(loads)?);
        call(move || {
            let mut out = Vec::new();
            scheduler.shares(&loads, &mut out);
            out
        })
    }

    /// Returns how many rows of the step go to decoding requests in total.
    fn decoding_rows(&self, loads: Loads) -> PyResult<usize> {
        let (scheduler, loads) = (self.0, self::loads(loads)?);
        call(move || scheduler.decoding_rows(&loads))
    }

    fn __repr__(&self) -> String {
        let rust::Scheduler { budget, reserved } = self.0;
        format!("Scheduler(budget={budget}, reserved={reserved})")
    }
}

/// Returns the rows per request if `rows` rows go to the prompts, oldest prompt first.
#[pyfunction]
fn share_prompts(loads: Loads, rows: Count) -> PyResult<Vec<usize>> {
    let loads = self::loads(loads)?;
    call(move || {
        let mut out = vec![0; loads.len()];
        rust::share_prompts(&loads, rows.0, &mut out);
        out
    })
}

/// Returns the rows per request if the `rows` decoding requests that waited longest get one each.
#[pyfunction]
fn take_turns(loads: Loads, rows: Count) -> PyResult<Vec<usize>> {
    let loads = self::loads(loads)?;
    call(move || {
        let mut out = vec![0; loads.len()];
        rust::take_turns(&loads, rows.0, &mut out);
        out
    })
}
