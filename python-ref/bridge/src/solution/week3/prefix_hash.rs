//! Day 5: names of pages, which are hashes.

use super::rust::prefix_hash as rust;
use crate::prelude::*;

exports! { fn hash_page, chain; }

/// Returns the name of a page that holds `tokens [n]`. The prefix before it has the name `before`.
#[pyfunction]
fn hash_page(before: Long, tokens: Ids<1>) -> PyResult<u64> {
    let tokens = tokens.to_vec();
    call(move || rust::hash_page(before.0, &tokens))
}

/// Returns the names of the full pages of `tokens [L]`.
#[pyfunction]
fn chain(fingerprint: Long, tokens: Ids<1>, page_len: Count) -> PyResult<Vec<u64>> {
    let tokens = tokens.to_vec();
    at_least_one("page_len", page_len.0)?;
    call(move || rust::chain(fingerprint.0, &tokens, page_len.0, rust::hash_page))
}
