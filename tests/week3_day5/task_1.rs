//! Week 3, day 5, task 1: a chain of hashes.

use tiny_llm::week3::prefix_hash::{HashPage, chain, hash_page};
use tiny_llm_harness::check;

use super::{fixtures, long};

#[test]
pub(super) fn task_1_hash_page_matches_fnv_1a() {
    let case = fixtures().case("task_1_hash_page/numbers");
    for (before, tokens, expected) in case.read::<Vec<(String, Vec<u32>, String)>>("rows") {
        let before = long(&before);
        let call = format!("hash_page({before}, {tokens:?})");
        let found = check::assert_accepts(&call, || hash_page(before, &tokens));
        check::assert_answer(&call, &found, &long(&expected));
    }
}

#[test]
pub(super) fn task_1_chain_hashes_each_full_page() {
    let case = fixtures().case("task_1_chain/texts");
    let rows: Vec<(String, Vec<u32>, usize, Vec<String>)> = case.read("rows");
    for (fingerprint, tokens, page_len, expected) in rows {
        let fingerprint = long(&fingerprint);
        let expected: Vec<u64> = expected.iter().map(|name| long(name)).collect();
        let call = format!("chain({fingerprint}, {tokens:?}, {page_len}, hash_page)");
        let found =
            check::assert_accepts(&call, || chain(fingerprint, &tokens, page_len, hash_page));
        check::assert_answer(&call, &found, &expected);
    }
}

/// `chain` must call the hash function that it is given, so another one returns other names.
#[test]
fn task_1_chain_uses_the_given_hash() {
    let call = "chain(1, [2, 3, 4, 5], 2, |before, tokens| 10 · before + the sum of the tokens)";
    let hash: HashPage =
        |before, tokens| 10 * before + tokens.iter().map(|&t| u64::from(t)).sum::<u64>();
    check::assert_answer(call, &chain(1, &[2, 3, 4, 5], 2, hash), &vec![15, 159]);
}
