//! Week 3, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week3 as rust;
use crate::submodule;

mod accept;
mod draft_length;
mod engine;
mod json;
mod lookup;
mod paged;
mod parts;
mod pool;
mod prefix_hash;
mod prefix_index;
mod prompt_file;
mod request;
mod scheduler;
mod slots;
mod speculate;
mod stop;
mod timeline;
mod whole;

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
    add("parts", parts::fill)?;
    add("prefix_hash", prefix_hash::fill)?;
    add("prefix_index", prefix_index::fill)?;
    add("prompt_file", prompt_file::fill)?;
    add("lookup", lookup::fill)?;
    add("accept", accept::fill)?;
    add("draft_length", draft_length::fill)?;
    add("speculate", speculate::fill)?;
    add("json", json::fill)?;
    add("whole", whole::fill)
}
