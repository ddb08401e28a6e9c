//! Week 4, file by file as in the solution.

use pyo3::prelude::*;

pub(crate) fn fill(_: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
