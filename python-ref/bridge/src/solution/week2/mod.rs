//! Week 2, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) use super::rust::week2 as rust;
use crate::submodule;

mod blocks;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let path = m.name()?;
    submodule(m, "blocks", &format!("{path}.blocks"), blocks::fill)
}
