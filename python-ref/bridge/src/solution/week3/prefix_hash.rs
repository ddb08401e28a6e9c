//! Day 5: names of pages.

use pyo3::prelude::*;

use super::{super::week1::sampling::Seed, rust::prefix_hash as rust};
use crate::{
    background::call,
    convert::{Count, Ids},
    shapes::at_least_one,
};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(hash_page, m)?)?;
    m.add_function(wrap_pyfunction!(chain, m)?)
}

/// The name of a page that holds `tokens [n]` behind what has the name `before`.
#[pyfunction]
fn hash_page(py: Python<'_>, before: Seed, tokens: Ids<1>) -> PyResult<u64> {
    let tokens = tokens.to_vec();
    call(py, move || rust::hash_page(before.number(), &tokens))
}

/// The names of the full pages of `tokens [L]`.
#[pyfunction]
fn chain(py: Python<'_>, fingerprint: Seed, tokens: Ids<1>, page_len: Count) -> PyResult<Vec<u64>> {
    let tokens = tokens.to_vec();
    at_least_one("page_len", page_len.0)?;
    call(py, move || rust::chain(fingerprint.number(), &tokens, page_len.0, rust::hash_page))
}
