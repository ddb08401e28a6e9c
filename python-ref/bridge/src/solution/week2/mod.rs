//! Week 2, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week2 as rust;
use crate::submodule;

mod attention;
pub(crate) mod blocks;
pub(crate) mod cache;
mod generate;
mod gguf;
mod input;
mod kernels;
pub(crate) mod model;
mod recipe;
mod roofline;
mod streaming;
mod writer;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let path = m.name()?;
    let add = |name: &str, fill| submodule(m, name, &format!("{path}.{name}"), fill);
    add("cache", cache::fill)?;
    add("attention", attention::fill)?;
    add("model", model::fill)?;
    add("generate", generate::fill)?;
    add("gguf", gguf::fill)?;
    add("roofline", roofline::fill)?;
    add("blocks", blocks::fill)?;
    add("recipe", recipe::fill)?;
    add("writer", writer::fill)?;
    add("input", input::fill)?;
    add("kernels", kernels::fill)?;
    add("streaming", streaming::fill)
}
