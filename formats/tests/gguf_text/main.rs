//! Compares tokenizers and chat templates of GGUF files with Hugging Face's. The expected results
//! are in `tests/fixtures/gguf_text.json`, written by `python-ref/oracle/gguf_text.py`.

mod any_text;

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tiny_llm_formats::{
    chat::Message,
    gguf::{Array, Metadata, NORMALIZES, SPACE_PREFIX, Value, convert},
    text::{ChatTemplate, Tokenizer},
};

fn fixtures() -> Json {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/gguf_text.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the fixtures are committed"))
        .expect("JSON")
}

/// Returns the name, the fixture and the metadata of each tokenizer.
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

/// Converts a JSON value to a metadata value. An array of whole numbers lists token types.
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
fn ids_and_text_match_hugging_face() {
    let fixtures = fixtures();
    let texts = fixtures["texts"].as_array().unwrap();
    for (name, case, metadata) in tokenizers(&fixtures) {
        let tokenizer = Tokenizer::from_gguf(&metadata).unwrap();
        let bos = metadata.size("tokenizer.ggml.bos_token_id").unwrap().unwrap() as u32;
        let adds_bos = metadata.flag("tokenizer.ggml.add_bos_token").unwrap().unwrap();
        for (i, text) in texts.iter().map(|text| text.as_str().unwrap()).enumerate() {
            let encoded = tokenizer.encode(text).unwrap();
            assert_eq!(encoded, ids(&case["ids"][i]), "{name}: {text:?}");
            let decoded = case["decoded"][i].as_str().unwrap_or(text);
            assert_eq!(tokenizer.decode(&encoded).unwrap(), decoded, "{name}: {text:?}");

            let mut prompt = encoded.clone();
            if adds_bos && encoded.first() != Some(&bos) {
                prompt.insert(0, bos);
            }
            assert_eq!(tokenizer.encode_prompt(text).unwrap(), prompt, "{name}: {text:?}");

            let bytes = encoded.iter().flat_map(|id| tokenizer.token_bytes(*id)).collect();
            let written = String::from_utf8(bytes).expect("whole characters");
            // SentencePiece adds a space before a text, and its decoder removes the first space.
            let strips = name.starts_with("llama2") && name != "llama2_no_space";
            let written = written.strip_prefix(' ').filter(|_| strips).unwrap_or(&written);
            assert_eq!(written, decoded, "{name}: {text:?}");
        }
    }
}

#[test]
fn byte_tokens_and_special_tokens_have_their_bytes() {
    let llama = Tokenizer::from_gguf(&metadata("llama2", &fixtures()["llama2"]["metadata"]));
    let llama = llama.unwrap();
    assert_eq!(llama.token_bytes(3 + 0x0A), b"\n", "<0x0A> is a byte");
    assert_eq!(llama.token_bytes(2), b"</s>", "a special token reads as itself");
    assert!(llama.token_bytes(1_000_000).is_empty(), "no such token");
    let error = llama.decode(&[3, 999_999]).unwrap_err().to_string();
    assert!(error.contains("token 999999 is not in the tokenizer's vocabulary"), "{error}");
}

/// Creates a model folder with this `tokenizer.json` and a vocabulary of `size` tokens.
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
fn folder_metadata_matches_the_converter() {
    let fixtures = fixtures();
    // From a folder, the default pre-tokenizer and a vocabulary without byte tokens are rejected.
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
        // Scores may differ, but the ids must be the same.
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
fn embedded_model_matches_from_gguf_and_folder() {
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
fn missing_keys_have_the_defaults_of_the_family() {
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
fn rejects_inconsistent_metadata() {
    let fixtures = fixtures();
    let refused = |metadata: &Metadata, expected: &str| {
        let error = Tokenizer::from_gguf(metadata)
            .err()
            .unwrap_or_else(|| panic!("no error: {expected}"))
            .to_string();
        assert!(
            error.starts_with(&format!("some.gguf: {expected}")) && !error.contains('\n'),
            "found: {error}\nexpected: {expected}"
        );
    };
    // Changes a key of `tokenizer.ggml`, or one element of its array. A null removes the key.
    let changed = |name: &str, place: &str, value: Json| {
        let mut json = fixtures[name]["metadata"].clone();
        *json.pointer_mut(&format!("/tokenizer.ggml.{place}")).unwrap() = value;
        json.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        metadata("some.gguf", &json)
    };
    let names_key = |name: &str, place: &str, value: Json, expected: &str| {
        let key = place.split('/').next().unwrap();
        let expected = format!("metadata tokenizer.ggml.{key}: {expected}");
        refused(&changed(name, place, value), &expected);
    };
    let gpt2 = |place, value, expected: &str| names_key("gpt2", place, value, expected);
    gpt2("model", json!(null), "found nothing, expected a value");
    gpt2("model", json!("bert"), "found String(\"bert\"), expected \"gpt2\"");
    gpt2("pre", json!("tekken"), "found String(\"tekken\"), expected gpt-2, gpt-4o");
    gpt2("pre", json!(3), "found U32(3), expected a text");
    gpt2("tokens", json!(null), "found nothing");
    gpt2("tokens", json!([1]), "found an array of length 1, expected an array of strings");
    gpt2("tokens", json!("a"), "found String(\"a\"), expected an array");
    gpt2("token_type", json!([1, 1]), "found 2 elements, expected one for each of 570 tokens");
    gpt2("token_type/5", json!(7), "token 5: found type 7, expected 1 to 6");
    gpt2(
        "token_type",
        json!([1.5]),
        "found an array of length 1, expected an array of 32-bit integers",
    );
    gpt2("merges", json!(null), "found nothing");
    gpt2("merges/3", json!("ab"), "merge 3: found \"ab\", expected two tokens with a space");
    let not_a_token = "expected two tokens whose concatenation is a token";
    gpt2("merges/3", json!("日 本"), &format!("merge 3: found \"日 本\", {not_a_token}"));
    gpt2("merges/3", json!(" "), &format!("merge 3: found \" \", {not_a_token}"));
    gpt2(
        "bos_token_id",
        json!(570),
        "found token 570, expected one below the vocabulary's size, 570",
    );
    let llama2 = |place, value, expected: &str| names_key("llama2", place, value, expected);
    llama2("scores", json!(null), "found nothing");
    llama2("scores", json!([1.5, 2.5]), "found 2 elements, expected one for each");
    llama2(
        "scores",
        json!(["x"]),
        "found an array of length 1, expected an array of 32-bit floats",
    );
    llama2("unknown_token_id", json!(99_999), "found token 99999, expected one below");
    let malformed = changed("llama2", "token_type/300", json!(6));
    refused(&malformed, "token 300: found a malformed byte token, expected one like <0x0A>");

    let with = |name: &str, key: &str, value: Value| {
        let mut metadata = metadata("some.gguf", &fixtures[name]["metadata"]);
        metadata.insert(key, value);
        metadata
    };
    let count = fixtures["llama2"]["metadata"]["tokenizer.ggml.tokens"].as_array().unwrap().len();
    let nans = Value::Array(Array::F32(vec![f32::NAN; count]));
    let no_tokens = Value::Array(Array::String(Vec::new()));
    let text = Value::String("x".to_owned());
    for (name, key, value, expected) in [
        ("gpt2", NORMALIZES, Value::U32(1), "found U32(1), expected true or false"),
        ("llama2", SPACE_PREFIX, text, "found String(\"x\"), expected metaspace-first"),
        ("llama2", "tokenizer.ggml.scores", nans, "token 0: found NaN, expected a number"),
        ("gpt2", "tokenizer.ggml.tokens", no_tokens, "found no tokens, expected at least one"),
    ] {
        refused(&with(name, key, value), &format!("metadata {key}: {expected}"));
    }
    let mut template = with("gpt2", "tokenizer.ggml.eos_token_id", Value::U32(570));
    template.insert("tokenizer.chat_template", Value::String("{{ bos_token }}".to_owned()));
    let error = ChatTemplate::from_gguf(&template).err().expect("an error").to_string();
    assert_eq!(
        error,
        "some.gguf: metadata tokenizer.ggml.eos_token_id: found U32(570), expected a token of the \
         vocabulary"
    );
}
