//! Day 6: drafts from the text so far.

use super::rust::lookup as rust;
use crate::prelude::*;

exports! { fn draft_from_text; }

/// Returns at most `k` tokens that followed an earlier occurrence of a suffix of `tokens [L]`. The
/// suffix has at most `longest` tokens.
#[pyfunction]
fn draft_from_text(tokens: Ids<1>, longest: Count, k: Count) -> PyResult<Vec<u32>> {
    let tokens = tokens.to_vec();
    call(move || rust::draft_from_text(&tokens, longest.0, k.0).to_vec())
}
