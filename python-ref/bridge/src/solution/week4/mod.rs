//! Week 4, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week4 as rust;
use crate::submodule;

mod arena;
mod backends;
mod engine;
#[cfg(feature = "gpu")]
mod gpu;
mod graph;
mod layout;
mod mixture;
mod product;
mod streamed;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let path = m.name()?;
    let add = |name: &str, fill| submodule(m, name, &format!("{path}.{name}"), fill);
    add("layout", layout::fill)?;
    add("product", product::fill)?;
    add("graph", graph::fill)?;
    add("engine", engine::fill)?;
    add("arena", arena::fill)?;
    add("backends", backends::fill)?;
    #[cfg(feature = "gpu")]
    add("gpu", gpu::fill)?;
    add("mixture", mixture::fill)?;
    add("streamed", streamed::fill)
}
