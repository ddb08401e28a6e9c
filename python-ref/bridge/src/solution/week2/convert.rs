//! Day 4: the order of rows.

use pyo3::prelude::*;

use super::rust::convert as rust;
use crate::panics::call;

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(permute_rows_for_interleaved, m)?)?;
    m.add_function(wrap_pyfunction!(permute_rows_for_half_split, m)?)?;
    m.add_function(wrap_pyfunction!(use_more_bits, m)?)
}

#[pyfunction]
fn permute_rows_for_interleaved(
    py: Python<'_>,
    rows: usize,
    n_heads: usize,
) -> PyResult<Vec<usize>> {
    call(py, || rust::permute_rows_for_interleaved(rows, n_heads))
}

#[pyfunction]
fn permute_rows_for_half_split(
    py: Python<'_>,
    rows: usize,
    n_heads: usize,
) -> PyResult<Vec<usize>> {
    call(py, || rust::permute_rows_for_half_split(rows, n_heads))
}

#[pyfunction]
fn use_more_bits(py: Python<'_>, layer: usize, n_layers: usize) -> PyResult<bool> {
    call(py, || rust::use_more_bits(layer, n_layers))
}
