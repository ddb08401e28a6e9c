//! Week 3, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week3 as rust;
use crate::submodule;

mod engine;
mod paged;
mod parts;
mod pool;
mod request;
mod scheduler;
mod slots;
mod stop;
mod timeline;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let path = m.name()?;
    let add = |name: &str, fill| submodule(m, name, &format!("{path}.{name}"), fill);
    add("request", request::fill)?;
    add("stop", stop::fill)?;
    add("slots", slots::fill)?;
    add("engine", engine::fill)?;
    add("scheduler", scheduler::fill)?;
    add("timeline", timeline::fill)?;
    add("pool", pool::fill)?;
    add("paged", paged::fill)?;
    add("parts", parts::fill)
}
