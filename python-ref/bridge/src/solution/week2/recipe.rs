//! Day 4: the order of rows.

use pyo3::prelude::*;

use super::rust::recipe as rust;
use crate::{
    background::call,
    convert::Count,
    memory::room_for,
    shapes::{at_least_one, below, wrong},
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(permute_rows_for_interleaved, m)?)?;
    m.add_function(wrap_pyfunction!(permute_rows_for_half_split, m)?)?;
    m.add_function(wrap_pyfunction!(use_more_bits, m)?)
}

/// What a list of numbers takes in Python, for each of them.
const LISTED: usize = 48;

/// More layers than any model has.
const MAX_LAYERS: usize = 1 << 20;

fn check(rows: Count, n_heads: Count) -> PyResult<(usize, usize)> {
    let (rows, n_heads) = (rows.0, n_heads.0);
    at_least_one("rows", rows)?;
    at_least_one("n_heads", n_heads)?;
    if n_heads > rows || !rows.is_multiple_of(2 * n_heads) {
        let expected = format!("rows of {n_heads} heads of an even size");
        return Err(wrong("rows", &rows.to_string(), &expected));
    }
    room_for("the rows", &[rows], LISTED)?;
    Ok((rows, n_heads))
}

/// For each row of the file the row of the checkpoint that stands there, in a projection of
/// `n_heads` heads.
#[pyfunction]
fn permute_rows_for_interleaved(
    py: Python<'_>,
    rows: Count,
    n_heads: Count,
) -> PyResult<Vec<usize>> {
    let (rows, n_heads) = check(rows, n_heads)?;
    call(py, move || rust::permute_rows_for_interleaved(rows, n_heads))
}

/// The way back: for each row of the checkpoint the row of the file that stands there.
#[pyfunction]
fn permute_rows_for_half_split(
    py: Python<'_>,
    rows: Count,
    n_heads: Count,
) -> PyResult<Vec<usize>> {
    let (rows, n_heads) = check(rows, n_heads)?;
    call(py, move || rust::permute_rows_for_half_split(rows, n_heads))
}

/// Whether a mix spends more bits on this layer.
#[pyfunction]
fn use_more_bits(py: Python<'_>, layer: Count, n_layers: Count) -> PyResult<bool> {
    below("n_layers", n_layers.0, MAX_LAYERS, "which is more than any model has")?;
    below("layer", layer.0, n_layers.0, "n_layers")?;
    call(py, move || rust::use_more_bits(layer.0, n_layers.0))
}
