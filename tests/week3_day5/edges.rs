//! Week 3, day 5: names of pages of any length, and error messages about files, which name what was
//! found and what was expected.

use tiny_llm::{
    week2::cache::{CacheShape, CacheType, DenseCache, KvCache},
    week3::{
        prefix_hash::{HashPage, chain, hash_page},
        prompt_file::{self, HEADER, MAGIC, PromptKey, VERSION, checksum, decode, encode},
    },
};
use tiny_llm_harness::{
    check::{assert_accepts, assert_refuses},
    messages::assert_tells,
};

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

const SHAPE: CacheShape =
    CacheShape { layers: 3, sequences: 2, kv_heads: 5, capacity: 9, head_dim: 7 };

/// Returns a file of six tokens, and its key.
fn file(cache_type: CacheType) -> (Vec<u8>, PromptKey) {
    let mut cache = DenseCache::new(SHAPE, cache_type);
    for position in 0..6 {
        for layer in 0..3 {
            let keys: Vec<f32> =
                (0..35).map(|i| (position * 100 + layer * 40 + i) as f32).collect();
            let values: Vec<f32> = keys.iter().map(|x| -x).collect();
            cache.write(layer, 1, position, &keys, &values);
        }
        cache.advance(1, position);
    }
    let key = PromptKey::new(0x1122_3344_5566_7788, cache_type, SHAPE);
    (encode(&cache, 1, &[11, 12, 13, 14, 15, 16], key), key)
}

/// Returns the file with the four bytes at `at` replaced, and with a correct checksum.
fn with(file: &[u8], at: usize, number: u32) -> Vec<u8> {
    let mut other = file.to_vec();
    other[at..at + 4].copy_from_slice(&number.to_le_bytes());
    let body = other.len() - 8;
    let sum = checksum(&other[..body]);
    other[body..].copy_from_slice(&sum.to_le_bytes());
    other
}

#[test]
fn task_4_decode_errors_name_found_and_expected_values() {
    let (whole, key) = file(CacheType::F16);
    assert!(decode(&whole, key).is_ok(), "decode must accept a file that encode wrote");
    let bytes = whole.len().to_string();
    let longer = (whole.len() + 4 + 2 * 3 * 5 * 7 * 2).to_string();
    let cut = (whole.len() - 3).to_string();
    let version = VERSION.to_string();
    /// The fault, the file, the key, what the message names as found, what it names as expected.
    type Wrong<'a> = (&'a str, Vec<u8>, PromptKey, Vec<&'a str>, Vec<&'a str>);
    let cases: Vec<Wrong<'_>> = vec![
        ("version 77", with(&whole, 8, 77), key, vec!["77"], vec![&version]),
        ("cache type 9", with(&whole, 12, 9), key, vec!["9"], vec![]),
        (
            "an f16 file for an f32 cache",
            whole.clone(),
            PromptKey { cache_type: prompt_file::CacheType::F32, ..key },
            vec!["f16"],
            vec!["f32"],
        ),
        ("an f32 file for an f16 cache", file(CacheType::F32).0, key, vec!["f32"], vec!["f16"]),
        (
            "another fingerprint",
            whole.clone(),
            PromptKey { fingerprint: 0x99aa_bbcc_ddee_ff01, ..key },
            vec!["1122334455667788"],
            vec!["99aabbccddeeff01"],
        ),
        (
            "a cache with another number of layers",
            whole.clone(),
            PromptKey { layers: 44, ..key },
            vec!["3"],
            vec!["44"],
        ),
        (
            "a cache with another number of heads",
            whole.clone(),
            PromptKey { kv_heads: 44, ..key },
            vec!["5"],
            vec!["44"],
        ),
        (
            "a cache with another head size",
            whole.clone(),
            PromptKey { head_dim: 44, ..key },
            vec!["7"],
            vec!["44"],
        ),
        ("another number of layers in the file", with(&whole, 24, 55), key, vec!["55"], vec!["3"]),
        ("another number of heads in the file", with(&whole, 28, 55), key, vec!["55"], vec!["5"]),
        ("another head size in the file", with(&whole, 32, 55), key, vec!["55"], vec!["7"]),
        (
            "a token count of seven in a file of six tokens",
            with(&whole, 36, 7),
            key,
            vec![&bytes],
            vec![&longer],
        ),
        (
            "a file without its last three bytes",
            whole[..whole.len() - 3].to_vec(),
            key,
            vec![&cut],
            vec![&bytes],
        ),
    ];
    for (what, file, key, found, expected) in cases {
        let Err(error) = assert_refuses(what, || decode(&file, key).map(drop)) else {
            panic!("{what}: decode accepted the file, expected an error")
        };
        assert_tells(what, &error.to_string(), &found, &expected);
    }
    // The message may name the stored checksum or the computed one as found. It contains both.
    let mut damaged = whole.clone();
    damaged[HEADER] ^= 1;
    let body = damaged.len() - 8;
    let Err(error) = decode(&damaged, key).map(drop) else {
        panic!("decode accepted a damaged file, expected an error")
    };
    let message = error.to_string();
    let stored =
        u64::from_le_bytes(whole[body..].try_into().expect("the checksum has eight bytes"));
    let computed = checksum(&damaged[..body]);
    for sum in [stored, computed] {
        let (hex, decimal) = (format!("{sum:016x}"), sum.to_string());
        assert!(
            message.contains(&hex) || message.contains(&decimal) || !message.contains("found "),
            "a damaged file: the message {message:?} does not contain the checksum {hex}"
        );
    }
}

#[test]
fn task_4_in_common_edge_cases() {
    let (whole, key) = file(CacheType::F16);
    assert!(whole.starts_with(&MAGIC), "a file must begin with MAGIC");
    let prompt = decode(&whole, key).expect("decode must accept a file that encode wrote");
    for (tokens, expected) in [
        (&[][..], 0),
        (&[11], 0),
        (&[12], 0),
        (&[11, 12], 1),
        (&[11, 99], 1),
        (&[99, 12, 13], 0),
        (&[11, 12, 13, 14, 15, 16], 5),
        (&[11, 12, 13, 14, 15, 16, 17], 6),
        (&[11, 12, 13, 14, 15, 16, 17, 18], 6),
        (&[11, 12, 99, 14, 15, 16, 17], 2),
        (&[11, 12, 13, 14, 15, 99], 5),
        (&[11, 12, 13, 14, 15, 99, 16], 5),
    ] {
        let found = prompt.in_common(tokens);
        assert!(found == expected, "in_common({tokens:?}): found {found}, expected {expected}");
    }
}
