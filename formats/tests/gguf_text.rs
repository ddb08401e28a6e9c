//! Tokenizer and chat template of GGUF files against Hugging Face's:
//! `tests/fixtures/gguf_text.json`, written by `python-ref/oracle/gguf_text.py`.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tiny_llm_formats::{
    chat::Message,
    gguf::{Array, Metadata, Value, convert},
    text::{ChatTemplate, Tokenizer},
};

fn fixtures() -> Json {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/gguf_text.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the fixtures are committed"))
        .expect("JSON")
}

/// The tokenizers by name, each with its metadata.
fn tokenizers(fixtures: &Json) -> impl Iterator<Item = (&str, &Json, Metadata)> {
    let cases =
        fixtures.as_object().expect("an object").iter().filter(|(name, _)| *name != "texts");
    cases.map(|(name, case)| (name.as_str(), case, metadata(name, &case["metadata"])))
}

fn metadata(name: &str, keys: &Json) -> Metadata {
    let mut metadata = Metadata::new(name);
    for (key, value) in keys.as_object().expect("an object") {
        metadata.insert(key, value_of(value));
    }
    metadata
}

/// Token types are the only numbers in arrays that are whole.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::U32(number.as_u64().expect("an id") as u32),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(all) if all[0].is_string() => Value::Array(Array::String(
            all.iter().map(|x| x.as_str().unwrap().to_owned()).collect(),
        )),
        Json::Array(all) if all[0].is_f64() => {
            Value::Array(Array::F32(all.iter().map(|x| x.as_f64().unwrap() as f32).collect()))
        }
        Json::Array(all) => {
            Value::Array(Array::I32(all.iter().map(|x| x.as_i64().unwrap() as i32).collect()))
        }
        other => panic!("{other}"),
    }
}

fn ids(value: &Json) -> Vec<u32> {
    value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

fn tiny_story() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-story")
}

#[test]
fn ids_and_text_are_those_of_hugging_face() {
    let fixtures = fixtures();
    let texts = fixtures["texts"].as_array().unwrap();
    for (name, case, metadata) in tokenizers(&fixtures) {
        let tokenizer = Tokenizer::from_gguf(&metadata).unwrap();
        for (i, text) in texts.iter().map(|text| text.as_str().unwrap()).enumerate() {
            let encoded = tokenizer.encode(text).unwrap();
            assert_eq!(encoded, ids(&case["ids"][i]), "{name}: {text:?}");
            let decoded = case["decoded"][i].as_str().unwrap_or(text);
            assert_eq!(tokenizer.decode(&encoded).unwrap(), decoded, "{name}: {text:?}");
        }
    }
}

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
                let expected = theirs.encode(text, true).unwrap();
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

/// A folder with this `tokenizer.json` and a vocabulary of `size`.
fn folder(tokenizer: &Json, size: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut config: Json =
        serde_json::from_str(&std::fs::read_to_string(tiny_story().join("config.json")).unwrap())
            .unwrap();
    config["vocab_size"] = json!(size);
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let tokens = json!({"bos_token": "<s>", "eos_token": {"content": "<|im_end|>"}, "chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"});
    std::fs::write(folder.path().join("tokenizer_config.json"), tokens.to_string()).unwrap();
    folder
}

#[test]
fn metadata_of_a_folder_is_what_the_converter_writes() {
    let fixtures = fixtures();
    // No file is made with the pre-tokenizer of files that name none, or without tokens for bytes.
    for (name, case, expected) in
        tokenizers(&fixtures).filter(|(name, ..)| !["no_name", "llama2_no_bytes"].contains(name))
    {
        let size = case["metadata"]["tokenizer.ggml.tokens"].as_array().unwrap().len();
        let folder = folder(&case["file"], size);
        let made = convert::metadata_from_folder(folder.path())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for key in [
            "model",
            "pre",
            "tokens",
            "token_type",
            "merges",
            "bos_token_id",
            "add_bos_token",
            "add_space_prefix",
            "unknown_token_id",
        ] {
            let key = format!("tokenizer.ggml.{key}");
            assert_eq!(made.get(&key), expected.get(&key), "{name}: {key}");
        }
        for key in ["tiny-llm.tokenizer.nfc", "tiny-llm.tokenizer.space_prefix"] {
            assert_eq!(made.get(key), expected.get(key), "{name}: {key}");
        }
        // Scores need not be the same, but have to say the same.
        let tokenizer = Tokenizer::from_gguf(&made).unwrap();
        for (i, text) in fixtures["texts"].as_array().unwrap().iter().enumerate() {
            assert_eq!(
                tokenizer.encode(text.as_str().unwrap()).unwrap(),
                ids(&case["ids"][i]),
                "{name}: {text}"
            );
        }
        let template = ChatTemplate::from_gguf(&made).unwrap().expect("a template");
        assert_eq!(
            template.render(&[Message::new("user", "Hi")], true).unwrap(),
            "<s>Hi<|im_end|>",
            "{name}"
        );
    }
}

#[test]
fn the_embedded_model_reads_the_same_from_either() {
    let metadata = convert::metadata_from_folder(&tiny_story()).unwrap();
    let (gguf, json) =
        (Tokenizer::from_gguf(&metadata).unwrap(), Tokenizer::from_folder(&tiny_story()).unwrap());
    assert_eq!(gguf.vocab_size(), json.vocab_size());
    let stories = std::fs::read_to_string(tiny_story().join("../eval/stories.jsonl")).unwrap();
    let fixtures = fixtures();
    let texts = fixtures["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    for text in texts.chain(stories.lines()) {
        assert_eq!(gguf.encode(text).unwrap(), json.encode(text).unwrap(), "{text:?}");
    }
    let chat = [Message::new("user", "Hi")];
    let (gguf, json) = (
        ChatTemplate::from_gguf(&metadata).unwrap().unwrap(),
        ChatTemplate::from_folder(&tiny_story()).unwrap().unwrap(),
    );
    assert_eq!(gguf.render(&chat, true).unwrap(), json.render(&chat, true).unwrap());
    assert!(ChatTemplate::from_gguf(&Metadata::new("empty")).unwrap().is_none());
}

#[test]
fn keys_that_are_missing_have_the_familys_values() {
    let fixtures = fixtures();
    let without = |name: &str, keys: &[&str]| {
        let mut json = fixtures[name]["metadata"].clone();
        for key in keys {
            json.as_object_mut().unwrap().remove(*key).unwrap_or_else(|| panic!("{key}"));
        }
        Tokenizer::from_gguf(&metadata(name, &json)).unwrap()
    };
    let llama2 = without(
        "llama2",
        &[
            "tokenizer.ggml.bos_token_id",
            "tokenizer.ggml.unknown_token_id",
            "tokenizer.ggml.add_bos_token",
            "tokenizer.ggml.add_space_prefix",
        ],
    );
    assert_eq!(
        llama2.encode_prompt("x").unwrap(),
        Tokenizer::from_gguf(&metadata("llama2", &fixtures["llama2"]["metadata"]))
            .unwrap()
            .encode_prompt("x")
            .unwrap()
    );
    assert_eq!(llama2.encode_prompt("x").unwrap()[0], 1);
    assert_eq!(
        without("llama3", &["tokenizer.ggml.add_bos_token"]).encode_prompt("x").unwrap()[0],
        1
    );
    let none = without("llama3", &["tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id"]);
    assert_eq!(none.encode_prompt("x").unwrap(), none.encode("x").unwrap());
    assert_eq!(
        without("gpt2", &["tokenizer.ggml.add_bos_token"]).encode_prompt("x").unwrap().len(),
        1
    );
    let text = "It costs $12345.";
    let default = Tokenizer::from_gguf(&metadata("no_name", &fixtures["no_name"]["metadata"]))
        .unwrap()
        .encode(text)
        .unwrap();
    assert_eq!(without("no_name", &["tokenizer.ggml.pre"]).encode(text).unwrap(), default);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let fixtures = fixtures();
    type Change = fn(&mut Json);
    let cases: [(&str, &str, Change); 22] = [
        ("gpt2", "metadata tokenizer.ggml.model: found nothing, expected a value", |m| {
            m["tokenizer.ggml.model"] = json!(null);
        }),
        ("gpt2", "tokenizer.ggml.model: found String(\"bert\"), expected \"gpt2\"", |m| {
            m["tokenizer.ggml.model"] = json!("bert");
        }),
        ("gpt2", "tokenizer.ggml.pre: found String(\"tekken\"), expected gpt-2, gpt-4o", |m| {
            m["tokenizer.ggml.pre"] = json!("tekken");
        }),
        ("gpt2", "tokenizer.ggml.pre: found U32(3), expected a text", |m| {
            m["tokenizer.ggml.pre"] = json!(3);
        }),
        ("gpt2", "tokenizer.ggml.tokens: found nothing", |m| {
            m["tokenizer.ggml.tokens"] = json!(null);
        }),
        (
            "gpt2",
            "tokenizer.ggml.tokens: found an array of 1 elements, expected an array of texts",
            |m| {
                m["tokenizer.ggml.tokens"] = json!([1]);
            },
        ),
        ("gpt2", "tokenizer.ggml.tokens: found String(\"a\"), expected an array", |m| {
            m["tokenizer.ggml.tokens"] = json!("a");
        }),
        (
            "gpt2",
            "tokenizer.ggml.token_type: found 2 elements, expected one for each of 570 tokens",
            |m| {
                m["tokenizer.ggml.token_type"] = json!([1, 1]);
            },
        ),
        ("gpt2", "token 5: found type 7, expected 1 to 6", |m| {
            m["tokenizer.ggml.token_type"][5] = json!(7);
        }),
        (
            "gpt2",
            "tokenizer.ggml.token_type: found an array of 1 elements, expected an array of 32-bit \
             integers",
            |m| {
                m["tokenizer.ggml.token_type"] = json!([1.5]);
            },
        ),
        ("gpt2", "tokenizer.ggml.merges: found nothing", |m| {
            m["tokenizer.ggml.merges"] = json!(null);
        }),
        ("gpt2", "merge 3: found \"ab\", expected two tokens with a space", |m| {
            m["tokenizer.ggml.merges"][3] = json!("ab");
        }),
        ("gpt2", "merge 3: found \"日 本\", expected two tokens that make a third", |m| {
            m["tokenizer.ggml.merges"][3] = json!("日 本");
        }),
        ("gpt2", "merge 3: found \" \", expected two tokens that make a third", |m| {
            m["tokenizer.ggml.merges"][3] = json!(" ");
        }),
        (
            "gpt2",
            "bos_token_id: found token 570, expected one below the vocabulary's size, 570",
            |m| {
                m["tokenizer.ggml.bos_token_id"] = json!(570);
            },
        ),
        ("gpt2", "tiny-llm.tokenizer.nfc: found U32(1), expected true or false", |m| {
            m["tiny-llm.tokenizer.nfc"] = json!(1);
        }),
        ("llama2", "tokenizer.ggml.scores: found nothing", |m| {
            m["tokenizer.ggml.scores"] = json!(null);
        }),
        ("llama2", "tokenizer.ggml.scores: found 2 elements, expected one for each", |m| {
            m["tokenizer.ggml.scores"] = json!([1.5, 2.5]);
        }),
        (
            "llama2",
            "tokenizer.ggml.scores: found an array of 1 elements, expected an array of 32-bit \
             floats",
            |m| {
                m["tokenizer.ggml.scores"] = json!(["x"]);
            },
        ),
        ("llama2", "unknown_token_id: found token 99999, expected one below", |m| {
            m["tokenizer.ggml.unknown_token_id"] = json!(99_999);
        }),
        ("llama2", "token 300: found a byte of another form, expected one like <0x0A>", |m| {
            m["tokenizer.ggml.token_type"][300] = json!(6);
        }),
        ("llama2", "space_prefix: found String(\"x\"), expected metaspace-first", |m| {
            m["tiny-llm.tokenizer.space_prefix"] = json!("x");
        }),
    ];
    for (name, expected, change) in cases {
        let mut json = fixtures[name]["metadata"].clone();
        change(&mut json);
        json.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let error = Tokenizer::from_gguf(&metadata("some.gguf", &json))
            .err()
            .unwrap_or_else(|| panic!("no error: {expected}"))
            .to_string();
        assert!(
            error.contains(expected) && error.starts_with("some.gguf: ") && !error.contains('\n'),
            "found: {error}\nexpected: {expected}"
        );
    }
    let mut scores = metadata("some.gguf", &fixtures["llama2"]["metadata"]);
    let count = fixtures["llama2"]["metadata"]["tokenizer.ggml.tokens"].as_array().unwrap().len();
    scores.insert("tokenizer.ggml.scores", Value::Array(Array::F32(vec![f32::NAN; count])));
    let error = Tokenizer::from_gguf(&scores).err().expect("an error").to_string();
    assert_eq!(
        error,
        "some.gguf: metadata tokenizer.ggml.scores: token 0: found NaN, expected a number"
    );
    let mut empty = metadata("some.gguf", &fixtures["gpt2"]["metadata"]);
    empty.insert("tokenizer.ggml.tokens", Value::Array(Array::String(Vec::new())));
    let error = Tokenizer::from_gguf(&empty).err().expect("an error").to_string();
    assert_eq!(error, "some.gguf: metadata tokenizer.ggml.tokens: found no tokens, expected some");
    let mut template = metadata("some.gguf", &fixtures["gpt2"]["metadata"]);
    template.insert("tokenizer.chat_template", Value::String("{{ bos_token }}".to_owned()));
    template.insert("tokenizer.ggml.eos_token_id", Value::U32(570));
    let error = ChatTemplate::from_gguf(&template).err().expect("an error").to_string();
    assert_eq!(
        error,
        "some.gguf: metadata tokenizer.ggml.eos_token_id: found U32(570), expected a token of the \
         vocabulary"
    );
}
