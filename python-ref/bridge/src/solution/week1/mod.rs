//! Week 1, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week1 as rust;
use crate::submodule;

mod attention;
mod chat;
pub(super) mod generate;
mod gqa;
mod mlp;
mod model;
mod norm;
mod rope;
pub(crate) mod sampling;
mod stream;
mod weights;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let path = m.name()?;
    let add = |name: &str, fill| submodule(m, name, &format!("{path}.{name}"), fill);
    add("attention", attention::fill)?;
    add("rope", rope::fill)?;
    add("gqa", gqa::fill)?;
    add("norm", norm::fill)?;
    add("mlp", mlp::fill)?;
    add("model", model::fill)?;
    add("weights", weights::fill)?;
    add("generate", generate::fill)?;
    add("stream", stream::fill)?;
    add("chat", chat::fill)?;
    add("sampling", sampling::fill)
}
