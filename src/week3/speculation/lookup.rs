//! Day 6. Drafting by lookup: copies what followed the same words earlier in the text.
//!
//! Tasks here: week3-day6 task 1 (`draft_from_text`). Everything else is provided.

/// Finds an earlier occurrence of the text's suffix, and returns at most `k` tokens that followed
/// it.
///
/// Of all suffixes of the text with 1 to `longest` tokens, uses the longest one that occurs earlier
/// in the text. Of that suffix's earlier occurrences, uses the last. (Such an occurrence may
/// overlap the suffix itself.) The draft consists of the tokens after that occurrence, up to the
/// end of the text. It is empty if no suffix occurs earlier. `longest` and `k` may be as large as
/// `usize::MAX`.
///
/// Source: Saxena 2023, "Prompt Lookup Decoding".
#[must_use]
pub fn draft_from_text(tokens: &[u32], longest: usize, k: usize) -> &[u32] {
    todo!("week3-day6 task 1: draft_from_text")
}
