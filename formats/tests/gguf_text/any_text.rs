//! Any text and any ids, compared with the `tokenizers` crate.

use serde_json::{Value as Json, json};
use tiny_llm_formats::text::Tokenizer;

use super::{fixtures, tokenizers};

/// The `tokenizers` crate on the same file. What its post-processor puts before a text is compared
/// with `transformers`, in `text.rs`.
#[test]
fn any_text_becomes_the_ids_of_the_tokenizers_crate() {
    let fixtures = fixtures();
    for (name, case, metadata) in tokenizers(&fixtures) {
        let theirs: tokenizers::Tokenizer = case["file"].to_string().parse().expect(name);
        let mut ours = vec![Tokenizer::from_gguf(&metadata).unwrap()];
        // Neither kind is made from a folder.
        if !["no_name", "llama2_no_bytes"].contains(&name) {
            ours.push(Tokenizer::from_json(&case["file"].to_string(), name).unwrap());
        }
        for ours in ours {
            compare(name, &ours, &theirs);
            for text in fixtures["texts"].as_array().unwrap() {
                let text = text.as_str().unwrap();
                // Ours adds the token that begins a text once.
                let expected = theirs.encode(text, !text.starts_with("<s>")).unwrap();
                assert_eq!(
                    ours.encode_prompt(text).unwrap(),
                    expected.get_ids(),
                    "{name}: {text:?}"
                );
            }
        }
    }
}

/// gpt-oss's words, and the small letters of `models/tiny-mixture`: with the merges of another
/// tokenizer, on texts with capitals and marks.
#[test]
fn other_words_become_the_ids_of_the_tokenizers_crate() {
    const O200K: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let fixtures = fixtures();
    let split = |behavior: &str, invert: bool| json!({"type": "Split", "pattern": {"Regex": O200K}, "behavior": behavior, "invert": invert});
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let cut = |split: Json| json!({"type": "Sequence", "pretokenizers": [split, bytes]});
    for (pre, normalizer, whole_words) in [
        (cut(split("Isolated", false)), Json::Null, false),
        (cut(split("Removed", true)), Json::Null, true),
        (bytes.clone(), json!({"type": "Lowercase"}), false),
    ] {
        let mut file = fixtures["qwen2"]["file"].clone();
        file["pre_tokenizer"] = pre;
        file["normalizer"] = normalizer;
        file["model"]["ignore_merges"] = json!(whole_words);
        let ours = Tokenizer::from_json(&file.to_string(), "other").unwrap();
        let theirs: tokenizers::Tokenizer = file.to_string().parse().unwrap();
        compare(&file["pre_tokenizer"].to_string(), &ours, &theirs);
    }
}

/// What files of one family write differently over time; each on `<s>` before a text, merges,
/// normal forms, and added tokens.
#[test]
fn every_way_to_write_a_tokenizer_gives_the_ids_of_the_tokenizers_crate() {
    type Change = fn(&mut Json);
    let changes: [(&str, &str, Change); 9] = [
        ("Qwen2's merges as texts", "qwen2", merges_as_texts),
        ("TinyLlama's merges as texts", "llama2", merges_as_texts),
        ("Qwen2's post-processor", "qwen2", |file| {
            file["post_processor"] = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false});
        }),
        ("Llama 3.1's post-processor", "llama3", |file| {
            let template = file["post_processor"].take();
            let bytes = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true});
            file["post_processor"] = json!({"type": "Sequence", "processors": [bytes, template]});
        }),
        ("normal form C elsewhere", "gpt2", |file| file["normalizer"] = json!({"type": "NFC"})),
        ("whole words elsewhere", "qwen2", |file| file["model"]["ignore_merges"] = json!(true)),
        ("whole words of SmolLM", "smollm", |file| file["model"]["ignore_merges"] = json!(true)),
        ("one step in a sequence", "gpt2", |file| {
            let (normalizer, pre) = (json!({"type": "NFC"}), file["pre_tokenizer"].take());
            file["normalizer"] = json!({"type": "Sequence", "normalizers": [normalizer]});
            file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [pre]});
        }),
        ("settings for training, and a named unknown token", "gpt2", |file| {
            file["truncation"] = json!({"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0});
            file["model"]["unk_token"] = json!("<unk>");
        }),
    ];
    let fixtures = fixtures();
    for (what, name, change) in changes {
        let mut file = fixtures[name]["file"].clone();
        change(&mut file);
        let ours = Tokenizer::from_json(&file.to_string(), what).unwrap();
        let mut theirs: tokenizers::Tokenizer = file.to_string().parse().expect(what);
        theirs.with_truncation(None).unwrap();
        compare(what, &ours, &theirs);
        let expected = theirs.encode("Hi there", true).unwrap();
        assert_eq!(ours.encode_prompt("Hi there").unwrap(), expected.get_ids(), "{what}");
    }
}

fn merges_as_texts(file: &mut Json) {
    for merge in file["model"]["merges"].as_array_mut().unwrap() {
        *merge = json!(format!("{} {}", merge[0].as_str().unwrap(), merge[1].as_str().unwrap()));
    }
}

/// Sizes, tokens, and any texts and ids.
fn compare(name: &str, ours: &Tokenizer, theirs: &tokenizers::Tokenizer) {
    let size = theirs.get_vocab_size(true) as u32;
    assert_eq!(ours.vocab_size(), size as usize, "{name}");
    let decode = |ids: &[u32]| theirs.decode(ids, false).expect(name);
    let encode = |text: &str| theirs.encode(text, false).expect(name).get_ids().to_vec();
    for id in 0..size {
        assert_eq!(ours.decode(&[id]).unwrap(), decode(&[id]), "{name}: token {id}");
    }
    assert!(ours.decode(&[size]).is_err() && ours.token_bytes(size).is_empty(), "{name}");
    // Texts of any characters; ids in no order of a text, so that bytes are no characters and
    // special tokens stand anywhere.
    let mut draw = Draw(1);
    for _ in 0..400 {
        let text: String = (0..draw.below(30)).map(|_| draw.character()).collect();
        assert_eq!(ours.encode(&text).unwrap(), encode(&text), "{name}: {text:?}");
        let ids: Vec<u32> = (0..draw.below(8)).map(|_| draw.below(size)).collect();
        assert_eq!(ours.decode(&ids).unwrap(), decode(&ids), "{name}: {ids:?}");
    }
}

/// Random numbers, the same each time.
struct Draw(u32);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % end
    }

    /// Often one on which tokenizers differ, else any.
    fn character(&mut self) -> char {
        const OFTEN: &[char] = &[
            ' ', ' ', ' ', '\n', '\r', '\t', '\'', 's', 'l', 'T', 'a', 'b', '0', '7', '.', ',',
            '<', '>', '|', '▁', '\u{301}', '\u{A0}', 'é', 'S', 'Σ', 'ſ', 'ª', 'ǅ', '日', '/',
        ];
        match self.below(3) {
            0 => char::from_u32(self.below(0x3_0000)).unwrap_or('\u{FFFD}'),
            1 => char::from_u32(self.below(0x800)).expect("no surrogate"),
            _ => OFTEN[self.below(OFTEN.len() as u32) as usize],
        }
    }
}
