//! Week 3, day 5: names of pages of any length.

use tiny_llm::week3::prefix_hash::{HashPage, chain, hash_page};
use tiny_llm_harness::check::assert_accepts;

#[test]
fn task_1_chain_with_various_page_lengths() {
    // A hash that depends on the number of tokens, their values and their order.
    let hash: HashPage = |before, tokens| {
        tokens.iter().fold(before.wrapping_mul(31).wrapping_add(tokens.len() as u64), |name, &t| {
            name.wrapping_mul(1_000_003).wrapping_add(u64::from(t))
        })
    };
    for n in [0usize, 1, 2, 7, 64, 300] {
        let tokens: Vec<u32> = (0..n as u32).map(|i| u32::MAX - 5 * i).collect();
        for page_len in [1, 2, 3, 64, 299, 300, 301, usize::MAX] {
            for fingerprint in [0, 1, u64::MAX] {
                let what = format!("chain({fingerprint}, {n} tokens, {page_len}, …)");
                let found = assert_accepts(&what, || chain(fingerprint, &tokens, page_len, hash));
                let mut expected = Vec::new();
                for page in 0..n / page_len {
                    let before = expected.last().copied().unwrap_or(fingerprint);
                    expected.push(hash(before, &tokens[page * page_len..][..page_len]));
                }
                assert!(
                    found == expected,
                    "{what}: found {} names, expected {}{}. Hash each page's tokens together with \
                     the name before it",
                    found.len(),
                    expected.len(),
                    if found.len() == expected.len() { " other names" } else { "" }
                );
            }
        }
    }
}

#[test]
fn task_1_hash_page_depends_on_every_bit() {
    // The hashes of eight zero bytes, of these with one bit set, and of more zero bytes.
    let of_zeros = hash_page(0, &[]);
    let mut names = vec![of_zeros];
    names.extend((0..64).map(|bit| hash_page(1 << bit, &[])));
    names.extend((0..32).map(|bit| hash_page(0, &[1 << bit])));
    names.extend((0..32).map(|bit| hash_page(0, &[0, 1 << bit])));
    names.extend([hash_page(0, &[0]), hash_page(0, &[0, 0]), hash_page(0, &[0; 1000])]);
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        n,
        "number of different names of pages that differ in one bit or in length"
    );
    assert!(
        of_zeros == 0xa8c7_f832_281a_39c5,
        "hash_page(0, []), FNV-1a of eight zero bytes: found {of_zeros:#018x}, expected \
         0xa8c7f832281a39c5"
    );
}
