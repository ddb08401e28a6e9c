//! Day 5. A name for a prefix of a text: a chain of hashes over full pages of tokens.
//!
//! Tasks here: week3-day5 task 1 (`hash_page`, `chain`). Everything else is provided.

/// A function that computes a page's name from the previous page's name (`before`) and the page's
/// tokens. For the first page, `before` is the model's fingerprint.
pub type HashPage = fn(before: u64, tokens: &[u32]) -> u64;

/// Hashes the eight bytes of `before`, then the four bytes of each token, with FNV-1a. The bytes of
/// each number are in little-endian order. The hash begins with `0xcbf29ce484222325`. For each
/// byte, XORs the byte into the hash, then multiplies the hash by `0x100000001b3`, modulo 2⁶⁴.
///
/// Source: Fowler, Noll and Vo, RFC 9923.
#[must_use]
pub fn hash_page(before: u64, tokens: &[u32]) -> u64 {
    // SOLUTION week3-day5 task 1
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let tokens = tokens.iter().flat_map(|token| token.to_le_bytes());
    for byte in before.to_le_bytes().into_iter().chain(tokens) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
    // END SOLUTION
}

/// Returns the names of a text's full pages. A full page has `page_len` tokens. `hash` computes a
/// page's name from the previous page's name and the page's tokens. For the first page, the model's
/// `fingerprint` replaces the previous name. So a name depends on all tokens up to the end of its
/// page. A partial page at the end of the text has no name.
#[must_use]
pub fn chain(fingerprint: u64, tokens: &[u32], page_len: usize, hash: HashPage) -> Vec<u64> {
    // SOLUTION week3-day5 task 1
    let mut before = fingerprint;
    let pages = tokens.chunks_exact(page_len);
    pages
        .map(|page| {
            before = hash(before, page);
            before
        })
        .collect()
    // END SOLUTION
}
