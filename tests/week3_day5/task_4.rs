//! Week 3, day 5, task 4: a prompt in a file.

use tiny_llm::{
    week2::{
        cache::{CacheShape, CacheType, Cells, DenseCache, KvCache},
        kernels::vector::TILE,
    },
    week3::{
        paged::PagedCache,
        prompt_file::{self, HEADER, PromptKey, VERSION, checksum, decode, encode},
    },
};
use tiny_llm_harness::{check, fixtures::Case, messages::assert_tells};

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
        ("two more tokens", &[12, 0, 36, 36, 5, 9, 9], 5),
        ("a shorter one", &[12, 0, 36], 2),
        ("its first two tokens", &[12, 0], 1),
        ("two tokens, another second one", &[12, 9], 1),
        ("another last token", &[12, 0, 36, 36, 9], 4),
        ("another last token, then the file's", &[12, 0, 36, 36, 9, 5], 4),
        ("another token in the middle", &[12, 0, 35, 36, 5, 9], 2),
        ("another first token", &[11, 0, 36, 36, 5], 0),
        ("no tokens", &[], 0),
        ("a single token", &[12], 0),
        ("another single token", &[11], 0),
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
    refused(&sound(damaged), key, "a token count of 4294967295, with a correct checksum");
}

/// Returns a file with a correct checksum.
fn sound(mut file: Vec<u8>) -> Vec<u8> {
    let body = file.len() - 8;
    let sum = checksum(&file[..body]);
    file[body..].copy_from_slice(&sum.to_le_bytes());
    file
}

/// The error for a file of another model, cache type or shape names what differs: what was found,
/// and what was expected.
#[test]
fn task_4_decode_error_names_what_differs() {
    let case = fixtures().case("task_4_file/f16");
    let (_, _, key) = stored(&case, CacheType::F16);
    let file = bytes_of(&case);
    let of_f32 = bytes_of(&fixtures().case("task_4_file/f32"));
    let with = |at: usize, number: u32| {
        let mut other = file.clone();
        other[at..at + 4].copy_from_slice(&number.to_le_bytes());
        other
    };
    let whole = || file.clone();
    let model = |fingerprint| PromptKey { fingerprint, ..key };
    let [first_bit, last_bit] = [1 << 63, 1].map(|bit| model(key.fingerprint ^ bit));
    let other_type = PromptKey { cache_type: prompt_file::CacheType::F32, ..key };
    let layers = PromptKey { layers: 77, ..key };
    let heads = PromptKey { kv_heads: 77, ..key };
    let size = PromptKey { head_dim: 77, ..key };
    let n = file.len();
    let extra = sound([&file[..], &[0; 8]].concat());
    let [len, shorter, longer] = [n, n - 3, n + 100].map(|n| n.to_string());
    let version: &[&str] = &[&VERSION.to_string()];
    let other = b"GGUF and other things, more than 48 bytes in all.".to_vec();
    let (print, ours): (&[_], &[_]) = (&["fingerprint"], &["0123456789abcdef"]);
    /// The file's fault, the file, the key, texts of the message, what it names as found, and what
    /// as expected.
    type Fault<'a> = (&'a str, Vec<u8>, PromptKey, &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let faults: [Fault<'_>; 22] = [
        ("another format", other, key, &["magic|keys and values|begin with"], &[], &[]),
        ("version 2", with(8, 2), key, &["version"], &["2"], version),
        ("version 0", with(8, 0), key, &["version"], &["0"], version),
        ("version 77, correct checksum", sound(with(8, 77)), key, &["version"], &["77"], version),
        ("a third cache type", with(12, 2), key, &["cache type"], &["2"], &[]),
        ("cache type 9, correct checksum", sound(with(12, 9)), key, &["cache type"], &["9"], &[]),
        ("an f16 file for an f32 cache", whole(), other_type, &[], &["f16"], &["f32"]),
        ("an f32 file for an f16 cache", of_f32, key, &[], &["f32"], &["f16"]),
        ("another model", whole(), model(3), print, ours, &[]),
        (
            "another first bit of the fingerprint",
            whole(),
            first_bit,
            print,
            ours,
            &["8123456789abcdef"],
        ),
        (
            "another last bit of the fingerprint",
            whole(),
            last_bit,
            print,
            ours,
            &["0123456789abcdee"],
        ),
        ("a model with another number of layers", whole(), layers, &["layers"], &["2"], &["77"]),
        ("a model with another number of heads", whole(), heads, &["heads"], &["3"], &["77"]),
        ("a model with another head size", whole(), size, &[], &["4"], &["77"]),
        ("55 layers, correct checksum", sound(with(24, 55)), key, &[], &["55"], &["2"]),
        ("55 heads, correct checksum", sound(with(28, 55)), key, &[], &["55"], &["3"]),
        ("a head size of 55, correct checksum", sound(with(32, 55)), key, &[], &["55"], &["4"]),
        ("six tokens instead of five", with(36, 6), key, &["bytes", "6 tokens"], &[], &[]),
        ("six tokens, correct checksum", sound(with(36, 6)), key, &[], &[&len], &[&longer]),
        ("eight bytes more, correct checksum", extra, key, &["bytes", "5 tokens"], &[], &[]),
        ("three bytes less", file[..n - 3].to_vec(), key, &[], &[&shorter], &[&len]),
        ("another token", with(HEADER, 11), key, &["checksum"], &[], &[]),
    ];
    for (what, bytes, key, words, found, expected) in faults {
        let error = refused(&bytes, key, what);
        for word in words {
            assert!(
                word.split('|').any(|word| error.contains(word)),
                "{what}: the error {error:?} does not contain {word:?}"
            );
        }
        assert_tells(what, &error, found, expected);
    }
    // The message may name the stored checksum or the computed one as found. It contains both.
    let damaged = with(HEADER, 11);
    let message = refused(&damaged, key, "another token");
    for file in [&damaged, &sound(damaged.clone())] {
        let sum =
            u64::from_le_bytes(file[n - 8..].try_into().expect("the checksum has eight bytes"));
        let (hex, decimal) = (format!("{sum:016x}"), sum.to_string());
        assert!(
            message.contains(&hex) || message.contains(&decimal) || !message.contains("found "),
            "a damaged file: the message {message:?} does not contain the checksum {hex}"
        );
    }
}
