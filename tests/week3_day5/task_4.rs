//! Week 3, day 5, task 4: a prompt in a file.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache},
        kernels::vector::TILE,
    },
    week3::{
        paged::PagedCache,
        prompt_file::{self, HEADER, PromptKey, checksum, decode, encode},
    },
};
use tiny_llm_harness::{check, fixtures::Case};

use super::{fixtures, long};

/// Returns the cache of a case, both dense and in pages, and the key of its file.
fn stored(case: &Case, kind: CacheType) -> (DenseCache, PagedCache, PromptKey) {
    let cells = case.tensor("cells");
    let [layers, _, heads, n, dim] = *cells.shape() else { panic!("five axes") };
    let shape = CacheShape { layers, sequences: 2, kv_heads: heads, capacity: 8, head_dim: dim };
    let mut dense = DenseCache::new(shape, kind);
    let mut paged = PagedCache::new(shape, TILE, 4, kind);
    for position in 0..n {
        for layer in 0..layers {
            let row = |which: usize| -> Vec<f32> {
                let number = |i: usize| cells[[layer, which, i / dim, position, i % dim]];
                (0..heads * dim).map(number).collect()
            };
            dense.write(layer, 1, position, &row(0), &row(1));
            paged.write(layer, 1, position, &row(0), &row(1));
        }
        dense.advance(1, position);
        paged.advance(1, position);
    }
    (dense, paged, PromptKey::new(long(&case.read::<String>("fingerprint")), kind, shape))
}

fn bytes_of(case: &Case) -> Vec<u8> {
    let text = case.value("file").as_str().expect("hexadecimal digits").to_owned();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(byte).collect()
}

const KINDS: [(&str, CacheType); 2] = [("f32", CacheType::F32), ("f16", CacheType::F16)];

#[test]
fn task_4_encode_matches_reference_bytes() {
    for (name, kind) in KINDS {
        let case = fixtures().case(&format!("task_4_file/{name}"));
        let (dense, paged, key) = stored(&case, kind);
        let tokens = case.read::<Vec<u32>>("tokens");
        let expected = bytes_of(&case);
        let call = format!("encode five positions of an {name} cache");
        let found = check::assert_accepts(&call, || encode(&dense, 1, &tokens, key));
        if found != expected {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            let part = |bytes: &[u8]| bytes[at / 4 * 4..bytes.len().min(at / 4 * 4 + 16)].to_vec();
            let about = format!(
                "{call}: {} bytes, expected {}; the first difference is at byte {at}",
                found.len(),
                expected.len()
            );
            check::assert_answer(&about, &part(&found), &part(&expected));
        }
        let found = check::assert_accepts(&call, || encode(&paged, 1, &tokens, key));
        assert!(
            found == expected,
            "{call} in pages: the file differs from that of a dense cache, but must be the same"
        );
        check::assert_panics("encode six tokens of a cache with five positions", || {
            encode(&dense, 1, &[0; 6], key)
        });
    }
}

/// A text of three pages is interleaved with another text's pages. The file is the same as dense.
#[test]
fn task_4_file_is_independent_of_page_boundaries() {
    let shape =
        CacheShape { layers: 3, sequences: 2, kv_heads: 2, capacity: 3 * TILE, head_dim: 5 };
    let n = 2 * TILE + 6;
    let number = |layer: usize, head: usize, position: usize, d: usize| {
        ((((layer * 2) + head) * n + position) * 5 + d) as f32
    };
    let row = |layer: usize, position: usize| -> Vec<f32> {
        (0..10).map(|i| number(layer, i / 5, position, i % 5)).collect()
    };
    let mut dense = DenseCache::new(shape, CacheType::F32);
    let mut paged = PagedCache::new(shape, TILE, 6, CacheType::F32);
    for (position, sequence) in (0..n).flat_map(|position| [(position, 0), (position, 1)]) {
        for layer in 0..shape.layers {
            let keys = row(layer, position);
            let values: Vec<f32> = keys.iter().map(|x| -x).collect();
            dense.write(layer, sequence, position, &keys, &values);
            paged.write(layer, sequence, position, &keys, &values);
        }
        dense.advance(sequence, position);
        paged.advance(sequence, position);
    }
    let key = PromptKey::new(7, CacheType::F32, shape);
    let tokens: Vec<u32> = (0..n as u32).collect();
    let call = format!("encode {n} positions, in pages of {TILE} and in a dense cache");
    let files = check::assert_accepts(&call, || {
        [encode(&paged, 1, &tokens, key), encode(&dense, 1, &tokens, key)]
    });
    let data = |file: &[u8]| -> Vec<f32> {
        let numbers = &file[HEADER + 4 * n..file.len() - 8];
        numbers.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let mut expected = Vec::new();
    for (layer, head) in (0..3).flat_map(|layer| [(layer, 0), (layer, 1)]) {
        let keys: Vec<f32> = (0..5 * n).map(|i| number(layer, head, i / 5, i % 5)).collect();
        expected.extend(keys.iter());
        expected.extend(keys.iter().map(|x| -x));
    }
    for (file, how) in files.iter().zip(["in pages", "in a dense cache"]) {
        let found = data(file);
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(
            found.len() == expected.len() && first.is_none(),
            "{call}: {how}, number {first:?} after the tokens is wrong. For each layer and head, \
             write all keys [n, D], then all values, wherever a page ends"
        );
    }
    let prompt = decode(&files[0], key)
        .unwrap_or_else(|error| panic!("{call}: this must succeed, but it failed: {error:#}"));
    let mut restored = PagedCache::new(shape, TILE, 6, CacheType::F32);
    check::assert_accepts("restore all positions in pages", || prompt.restore(&mut restored, 0, n));
    let back = check::assert_accepts(&call, || encode(&restored, 0, &tokens, key));
    assert!(
        back == files[0],
        "{call}, restored in pages and encoded again: the file differs, but must be the same"
    );
}

/// Returns all numbers of a sequence, converted to f32.
fn numbers(cache: &impl KvCache, sequence: usize) -> Vec<f32> {
    numbers_of(cache, sequence, cache.len(sequence))
}

/// Returns the numbers of a sequence's first `n` positions, even if it was not advanced over them.
fn numbers_of(cache: &impl KvCache, sequence: usize, n: usize) -> Vec<f32> {
    let CacheShape { layers, kv_heads, .. } = cache.shape();
    let mut all = Vec::new();
    let mut append = |cells: Cells<'_>| match cells {
        Cells::F32(x) => all.extend_from_slice(x),
        Cells::F16(x) => all.extend(x.iter().map(|x| x.to_f32())),
    };
    for (layer, head) in (0..layers).flat_map(|l| (0..kv_heads).map(move |h| (l, h))) {
        for run in cache.runs(layer, sequence, head, 0..n) {
            append(run.keys);
            append(run.values);
        }
    }
    all
}

#[test]
fn task_4_restore_returns_stored_keys_and_values() {
    for (name, kind) in KINDS {
        let case = fixtures().case(&format!("task_4_file/{name}"));
        let (dense, _, key) = stored(&case, kind);
        let file = bytes_of(&case);
        let prompt =
            check::assert_accepts(&format!("decode the {name} file"), || decode(&file, key));
        let prompt = prompt.unwrap_or_else(|error| {
            panic!("decode the {name} file: this must succeed, but it failed: {error:#}")
        });
        check::assert_answer(
            "tokens of the decoded file",
            &prompt.tokens,
            &case.read::<Vec<u32>>("tokens"),
        );
        for n in [5, 3, 0] {
            let mut expected = dense.clone();
            expected.truncate(1, n);
            let mut found = DenseCache::new(dense.shape(), kind);
            let call = format!("restore {n} positions of the {name} file into sequence 0");
            check::assert_accepts(&call, || prompt.restore(&mut found, 0, n));
            assert!(
                n == 0 || found.len(0) > 0 || numbers_of(&found, 0, n) != numbers(&expected, 1),
                "{call}: all keys and values are in the cache, but its length is 0, expected {n}\n \
                  diagnosis You write the positions but don't advance the cache, so its length is \
                 still 0. Call `advance` after each position."
            );
            check::assert_answer(&format!("{call}: positions"), &found.len(0), &n);
            assert!(
                numbers(&found, 0) == numbers(&expected, 1),
                "{call}: the numbers differ from those that were stored\n  found    {:?}\n  \
                 expected {:?}",
                numbers(&found, 0),
                numbers(&expected, 1)
            );
            // A part of the cached positions can be encoded, too.
            let part = encode(&dense, 1, &prompt.tokens[..n], key);
            let part = decode(&part, key);
            let call = format!("{call}, encoded without the other positions");
            let part = part.unwrap_or_else(|error| {
                panic!("{call}: this must succeed, but it failed: {error:#}")
            });
            let mut found = DenseCache::new(dense.shape(), kind);
            part.restore(&mut found, 0, n);
            assert!(
                numbers(&found, 0) == numbers(&expected, 1),
                "{call}: the numbers differ from those that were stored"
            );
            let mut paged = PagedCache::new(dense.shape(), TILE, 4, kind);
            prompt.restore(&mut paged, 1, n);
            assert!(
                numbers(&paged, 1) == numbers(&expected, 1),
                "{call}, in pages: the numbers differ from those that were stored"
            );
        }
    }
}

#[test]
fn task_4_in_common_returns_shared_prefix_length() {
    let case = fixtures().case("task_4_file/f32");
    let (_, _, key) = stored(&case, CacheType::F32);
    let file = bytes_of(&case);
    let prompt = decode(&file, key).unwrap_or_else(|error| {
        panic!("decode of a valid file must succeed, but it failed: {error:#}")
    });
    for (why, text, expected) in [
        ("the same prompt: its last token has to be computed", &[12, 0, 36, 36, 5][..], 4),
        ("a longer one", &[12, 0, 36, 36, 5, 9], 5),
        ("a shorter one", &[12, 0, 36], 2),
        ("another token in the middle", &[12, 0, 35, 36, 5, 9], 2),
        ("another first token", &[11, 0, 36, 36, 5], 0),
        ("no tokens", &[], 0),
        ("a single token", &[12], 0),
    ] {
        let call = format!("a file of [12, 0, 36, 36, 5], {why}: in_common({text:?})");
        let found = check::assert_accepts(&call, || prompt.in_common(text));
        check::assert_answer(&call, &found, &expected);
    }
}

fn refused(bytes: &[u8], key: PromptKey, what: &str) -> String {
    let decoded = check::assert_refuses(what, || decode(bytes, key).map(|prompt| prompt.tokens));
    match decoded {
        Ok(tokens) => {
            panic!("{what}: decode accepted it with the tokens {tokens:?}, expected an error")
        }
        Err(error) => format!("{error:#}"),
    }
}

/// A file with any single bit changed is rejected.
#[test]
fn task_4_decode_rejects_any_flipped_bit() {
    for (name, kind) in KINDS {
        let case = fixtures().case(&format!("task_4_file/{name}"));
        let (_, _, key) = stored(&case, kind);
        let file = bytes_of(&case);
        for bit in 0..8 * file.len() {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let what = format!("the {name} file with bit {} of byte {} changed", bit % 8, bit / 8);
            refused(&damaged, key, &what);
        }
    }
}

/// A file of any other length is rejected.
#[test]
fn task_4_decode_rejects_any_other_length() {
    let case = fixtures().case("task_4_file/f16");
    let (_, _, key) = stored(&case, CacheType::F16);
    let file = bytes_of(&case);
    for len in 0..file.len() {
        refused(&file[..len], key, &format!("the first {len} bytes of {}", file.len()));
    }
    refused(&[&file[..], &[0; 8]].concat(), key, "the file and eight zeros");
    // A token count that fits no file, with a correct checksum.
    let mut damaged = file.clone();
    damaged[36..40].copy_from_slice(&u32::MAX.to_le_bytes());
    let body = damaged.len() - 8;
    let sum = checksum(&damaged[..body]);
    damaged[body..].copy_from_slice(&sum.to_le_bytes());
    refused(&damaged, key, "a token count of 4294967295, with a correct checksum");
}

/// The error for a file of another model, cache type or shape names what differs.
#[test]
fn task_4_decode_error_names_what_differs() {
    let case = fixtures().case("task_4_file/f16");
    let (_, _, key) = stored(&case, CacheType::F16);
    let file = bytes_of(&case);
    let with = |at: usize, number: u32| {
        let mut other = file.clone();
        other[at..at + 4].copy_from_slice(&number.to_le_bytes());
        other
    };
    let mut longer = [&file[..file.len() - 8], &[0; 8]].concat();
    longer.extend(checksum(&longer).to_le_bytes());
    for (what, bytes, key, words) in [
        (
            "a file of another format",
            b"GGUF and other things, more than 48 bytes in all.".to_vec(),
            key,
            vec!["magic|keys and values|begin with"],
        ),
        ("version 2", with(8, 2), key, vec!["version", "2", "1"]),
        ("version 0", with(8, 0), key, vec!["version", "0", "1"]),
        ("a third cache type", with(12, 2), key, vec!["cache type", "2"]),
        (
            "an f32 cache",
            file.clone(),
            PromptKey { cache_type: prompt_file::CacheType::F32, ..key },
            vec!["f16", "f32"],
        ),
        (
            "another model",
            file.clone(),
            PromptKey { fingerprint: 3, ..key },
            vec!["fingerprint", "0123456789abcdef"],
        ),
        (
            "a model whose fingerprint has another first bit",
            file.clone(),
            PromptKey { fingerprint: key.fingerprint ^ 1 << 63, ..key },
            vec!["fingerprint", "0123456789abcdef", "8123456789abcdef"],
        ),
        (
            "a model whose fingerprint has another last bit",
            file.clone(),
            PromptKey { fingerprint: key.fingerprint ^ 1, ..key },
            vec!["fingerprint", "0123456789abcdef", "0123456789abcdee"],
        ),
        (
            "another number of layers",
            file.clone(),
            PromptKey { layers: 7, ..key },
            vec!["layers", "2", "7"],
        ),
        (
            "another number of heads",
            file.clone(),
            PromptKey { kv_heads: 7, ..key },
            vec!["heads", "3", "7"],
        ),
        ("another head size", file.clone(), PromptKey { head_dim: 8, ..key }, vec!["4", "8"]),
        ("a token count that is one too large", with(36, 6), key, vec!["bytes", "6 tokens"]),
        ("eight extra bytes, with a correct checksum", longer, key, vec!["bytes", "5 tokens"]),
        ("another token", with(HEADER, 11), key, vec!["checksum"]),
    ] {
        let error = refused(&bytes, key, what);
        for word in words {
            assert!(
                word.split('|').any(|word| error.contains(word)),
                "{what}: the error {error:?} does not contain {word:?}"
            );
        }
    }
}
