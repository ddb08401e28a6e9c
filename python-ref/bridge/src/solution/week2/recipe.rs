//! Day 4: the order of rows.

use super::rust::recipe as rust;
use crate::prelude::*;

exports! { fn permute_rows_for_interleaved, permute_rows_for_half_split, use_more_bits; }

/// Bytes of memory for each number in a Python list.
const LISTED: usize = 48;

/// Maximum number of layers, more than any model has.
const MAX_LAYERS: usize = 1 << 20;

fn check(rows: Count, n_heads: Count) -> PyResult<(usize, usize)> {
    let (rows, n_heads) = (rows.0, n_heads.0);
    at_least_one("rows", rows)?;
    at_least_one("n_heads", n_heads)?;
    refuse_if!(n_heads > rows || !rows.is_multiple_of(2 * n_heads); "rows", rows;
        "rows of {n_heads} heads of an even size");
    room_for("the rows", &[rows], LISTED)?;
    Ok((rows, n_heads))
}

/// Returns, for each row of a projection in the file, the row's index in the checkpoint. The
/// projection has `n_heads` heads.
#[pyfunction]
fn permute_rows_for_interleaved(rows: Count, n_heads: Count) -> PyResult<Vec<usize>> {
    let (rows, n_heads) = check(rows, n_heads)?;
    call(move || rust::permute_rows_for_interleaved(rows, n_heads))
}

/// Returns the inverse permutation: for each row of the checkpoint, the row's index in the file.
#[pyfunction]
fn permute_rows_for_half_split(rows: Count, n_heads: Count) -> PyResult<Vec<usize>> {
    let (rows, n_heads) = check(rows, n_heads)?;
    call(move || rust::permute_rows_for_half_split(rows, n_heads))
}

/// Returns whether a mix of types, such as `Q4_K_M`, spends more bits on the layer `layer`.
#[pyfunction]
fn use_more_bits(layer: Count, n_layers: Count) -> PyResult<bool> {
    below("n_layers", n_layers.0, MAX_LAYERS, "which is more than any model has")?;
    below("layer", layer.0, n_layers.0, "n_layers")?;
    call(move || rust::use_more_bits(layer.0, n_layers.0))
}
