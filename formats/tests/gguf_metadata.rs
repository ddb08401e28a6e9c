//! The GGUF metadata and tensor names of a model folder.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tiny_llm_formats::gguf::{Array, Metadata, Value, convert, gguf_name, hugging_face_name};

fn tiny_story() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/tiny-story")
}

#[test]
fn returns_the_metadata_of_the_embedded_model() {
    let metadata = convert::metadata_from_folder(&tiny_story()).unwrap();
    let text = |key: &str| metadata.text(key).unwrap().unwrap_or_else(|| panic!("{key}"));
    let size = |key: &str| metadata.size(key).unwrap().unwrap_or_else(|| panic!("{key}"));
    assert_eq!(text("general.architecture"), "qwen3");
    assert_eq!(text("general.name"), "tiny-story");
    assert_eq!(size("qwen3.block_count"), 5);
    assert_eq!(size("qwen3.embedding_length"), 256);
    assert_eq!(size("qwen3.feed_forward_length"), 768);
    assert_eq!(size("qwen3.attention.head_count"), 4);
    assert_eq!(size("qwen3.attention.head_count_kv"), 2);
    assert_eq!(size("qwen3.attention.key_length"), 64);
    assert_eq!(size("qwen3.context_length"), 512);
    assert_eq!(metadata.float("qwen3.rope.freq_base").unwrap(), Some(10_000.0));
    assert_eq!(metadata.float("qwen3.attention.layer_norm_rms_epsilon").unwrap(), Some(1e-6));
    assert_eq!(text("tokenizer.ggml.model"), "gpt2");
    assert_eq!(text("tokenizer.ggml.pre"), "qwen2");
    assert_eq!(
        metadata.flag("tiny-llm.tokenizer.nfc").unwrap(),
        Some(false),
        "other tokenizers with this pre-tokenizer normalize"
    );
    assert_eq!(
        (
            size("tokenizer.ggml.eos_token_id"),
            size("tokenizer.ggml.eot_token_id"),
            size("tokenizer.ggml.padding_token_id")
        ),
        (2, 0, 0)
    );
    assert_eq!(metadata.flag("tokenizer.ggml.add_bos_token").unwrap(), Some(false));
    assert!(metadata.get("tokenizer.ggml.bos_token_id").is_none());
    assert!(text("tokenizer.chat_template").starts_with("{% for message in messages %}"));
    let Some(Array::String(tokens)) = metadata.array("tokenizer.ggml.tokens").unwrap() else {
        panic!("tokens")
    };
    assert_eq!((tokens.len(), tokens[2].as_str(), tokens[3].as_str()), (1536, "<|im_end|>", "!"));
    let Some(Array::I32(types)) = metadata.array("tokenizer.ggml.token_type").unwrap() else {
        panic!("types")
    };
    assert_eq!(types[..4], [3, 3, 3, 1]);
    let Some(Array::String(merges)) = metadata.array("tokenizer.ggml.merges").unwrap() else {
        panic!("merges")
    };
    assert_eq!(merges[..2], ["h e", "Ġ t"]);
}

#[test]
fn tensor_names_survive_a_round_trip() {
    for name in ["model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"] {
        assert_eq!(hugging_face_name(&gguf_name(name).unwrap()).unwrap(), name);
    }
    let parts = [
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.o_proj",
        "self_attn.q_norm",
        "self_attn.k_norm",
    ];
    for part in parts.into_iter().chain([
        "input_layernorm",
        "post_attention_layernorm",
        "mlp.gate_proj",
        "mlp.up_proj",
        "mlp.down_proj",
    ]) {
        for kind in ["weight", "bias"] {
            let name = format!("model.layers.17.{part}.{kind}");
            assert_eq!(hugging_face_name(&gguf_name(&name).unwrap()).unwrap(), name);
        }
    }
    assert_eq!(
        gguf_name("model.layers.3.self_attn.o_proj.bias").unwrap(),
        "blk.3.attn_output.bias"
    );
    assert_eq!(
        hugging_face_name("blk.0.ffn_norm.weight").unwrap(),
        "model.layers.0.post_attention_layernorm.weight"
    );
    for other in [
        "model.layers.x.mlp.up_proj.weight",
        "model.layers.1.mlp.up_proj",
        "model.layers.1.mlp.up_proj.scale",
        "blk.1.attn_q.weight",
        "",
    ] {
        assert_eq!(gguf_name(other), None, "{other}");
    }
    for other in ["rope_freqs.weight", "blk.1.attn_q", "blk.-1.attn_q.weight", "model.norm.weight"]
    {
        assert_eq!(hugging_face_name(other), None, "{other}");
    }
}

/// Returns the embedded model's metadata after `change` to its `tokenizer.json`.
fn changed(change: impl Fn(&mut Json)) -> anyhow::Result<Metadata> {
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "generation_config.json", "tokenizer_config.json"] {
        std::fs::copy(tiny_story().join(file), folder.path().join(file)).unwrap();
    }
    let mut json: Json = serde_json::from_str(
        &std::fs::read_to_string(tiny_story().join("tokenizer.json")).unwrap(),
    )
    .unwrap();
    change(&mut json);
    std::fs::write(folder.path().join("tokenizer.json"), json.to_string()).unwrap();
    convert::metadata_from_folder(folder.path())
}

#[test]
fn a_post_processor_sets_the_bos_token() {
    let single = json!([{"SpecialToken": {"id": "<|im_start|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
    let template = json!({"type": "TemplateProcessing", "single": single});
    let sequence = json!({"type": "Sequence", "processors": [{"type": "ByteLevel"}, template]});
    for processor in [template, sequence] {
        let metadata = changed(|json| json["post_processor"] = processor.clone()).unwrap();
        assert_eq!(metadata.flag("tokenizer.ggml.add_bos_token").unwrap(), Some(true));
        assert_eq!(metadata.size("tokenizer.ggml.bos_token_id").unwrap(), Some(1));
    }
}

#[test]
fn names_known_pre_tokenizers() {
    let byte_level = |use_regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex});
    let pre = |pre_tokenizer: Json, ignore_merges: bool| {
        let metadata = changed(|json| {
            json["pre_tokenizer"] = pre_tokenizer.clone();
            json["model"]["ignore_merges"] = json!(ignore_merges);
        });
        metadata.map(|metadata| metadata.text("tokenizer.ggml.pre").unwrap().unwrap().to_owned())
    };
    assert_eq!(pre(byte_level(true), false).unwrap(), "gpt-2");
    let digits = json!({"type": "Digits", "individual_digits": true});
    let sequence = |steps: &[Json]| json!({"type": "Sequence", "pretokenizers": steps});
    assert_eq!(pre(sequence(&[digits.clone(), byte_level(true)]), false).unwrap(), "smollm");
    let llama3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let split = |regex: &str| json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
    assert_eq!(pre(sequence(&[split(llama3), byte_level(false)]), true).unwrap(), "llama-bpe");
    assert_eq!(pre(sequence(&[split(llama3), byte_level(false)]), false).unwrap(), "smaug-bpe");
    for unknown in [
        sequence(&[split("a"), byte_level(false)]),
        sequence(&[split(llama3), byte_level(true)]),
        json!(null),
        sequence(&[digits]),
    ] {
        let error = pre(unknown, false).unwrap_err().to_string();
        assert!(error.contains("tokenizer.json: field \"pre_tokenizer\": found"), "{error}");
    }
}

#[test]
fn rejects_what_metadata_cannot_express() {
    type Change = fn(&mut Json);
    let cases: [(&str, Change); 14] = [
        ("field \"model.type\": found \"Unigram\", expected \"BPE\"", |json| {
            json["model"]["type"] = json!("Unigram");
        }),
        ("field \"model.vocab\": found [], expected tokens", |json| {
            json["model"]["vocab"] = json!([]);
        }),
        ("field \"model.merges.1\": found \"ab\", expected two tokens", |json| {
            json["model"]["merges"] = json!(["h e", "ab"]);
        }),
        ("token \"!\": found id 1536, expected an id below", |json| {
            json["model"]["vocab"]["!"] = json!(1536);
        }),
        ("id 4: found two tokens", |json| json["model"]["vocab"]["!"] = json!(4)),
        ("field \"added_tokens.1\": found", |json| json["added_tokens"][1]["lstrip"] = json!(true)),
        ("field \"normalizer\": found {\"type\":\"NFKC\"}, expected NFC", |json| {
            json["normalizer"] = json!({"type": "NFKC"});
        }),
        ("expected SentencePiece's pre_tokenizer, or a byte-level decoder", |json| {
            json["decoder"] = json!(null);
            json["model"]["byte_fallback"] = json!(true);
        }),
        ("field \"added_tokens.2\": found", |json| {
            json["normalizer"] = json!({"type": "Lowercase"});
            json["added_tokens"][2]["content"] = json!("<END>");
            json["added_tokens"][2]["normalized"] = json!(true);
        }),
        ("field \"pre_tokenizer\": found", |json| {
            json["pre_tokenizer"]["pretokenizers"][0]["behavior"] = json!("MergedWithPrevious");
        }),
        ("field \"model.end_of_word_suffix\": found \"</w>\", expected null", |json| {
            json["model"]["end_of_word_suffix"] = json!("</w>");
        }),
        ("field \"post_processor\": found {\"type\":\"RobertaProcessing\"}", |json| {
            json["post_processor"] = json!({"type": "RobertaProcessing"});
        }),
        ("expected a template with at most one token", |json| {
            let token = json!({"SpecialToken": {"id": "<|im_start|>"}});
            json["post_processor"]["single"] = json!([token, token]);
        }),
        ("expected the bos_token", |json| {
            json["post_processor"]["single"] = json!([{"SpecialToken": {"id": "nothing"}}]);
        }),
    ];
    for (expected, change) in cases {
        let error = changed(change)
            .err()
            .unwrap_or_else(|| panic!("no error, expected: {expected}"))
            .to_string();
        assert!(
            error.contains(expected) && error.contains("tokenizer.json") && !error.contains('\n'),
            "found: {error}\nexpected: {expected}"
        );
    }
}

/// Returns the metadata of a SentencePiece vocabulary with these merges.
fn sentence_piece(merges: Json) -> anyhow::Result<Metadata> {
    changed(move |json| {
        let mut tokens = vec!["<unk>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
        tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
        tokens.extend(["a", "b", "▁", "ab", "▁a", "▁ab", "▁b"].map(str::to_owned));
        let vocab: serde_json::Map<_, _> =
            tokens.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
        let special = |id: usize| json!({"id": id, "content": tokens[id], "special": true});
        *json = json!({
            "added_tokens": [special(0), special(1), special(2), {"id": 266, "content": "▁user▁", "special": false}],
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
            "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}]},
            "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<unk>", "vocab": vocab, "merges": merges},
        });
    })
}

#[test]
fn scores_follow_the_order_of_merges() {
    let metadata =
        sentence_piece(json!([["a", "b"], ["▁", "a"], ["▁", "ab"], ["▁a", "b"], ["▁", "b"]]))
            .unwrap();
    assert_eq!(metadata.text("tokenizer.ggml.model").unwrap(), Some("llama"));
    assert_eq!(metadata.flag("tokenizer.ggml.add_space_prefix").unwrap(), Some(true));
    assert_eq!(metadata.size("tokenizer.ggml.unknown_token_id").unwrap(), Some(0));
    let Some(Value::Array(Array::F32(scores))) = metadata.get("tokenizer.ggml.scores") else {
        panic!("scores")
    };
    assert_eq!(scores[259..266], [-4.0, -4.0, -4.0, 0.0, -1.0, -2.0, -3.0]);
    let Some(Value::Array(Array::I32(types))) = metadata.get("tokenizer.ggml.token_type") else {
        panic!("types")
    };
    assert_eq!(
        (types[0], types[1], types[3], types[259], types[266], types[267]),
        (2, 3, 6, 1, 4, 5)
    );
    let Some(Value::Array(Array::String(tokens))) = metadata.get("tokenizer.ggml.tokens") else {
        panic!("tokens")
    };
    assert_eq!(
        (tokens[266].as_str(), tokens[267].as_str(), tokens.len()),
        (" user ", "[PAD267]", 1536)
    );

    let missing = sentence_piece(json!([["a", "b"], ["▁", "a"], ["▁", "ab"], ["▁", "b"]]))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("merges that produce \"▁ab\": found 1, expected 2, one"), "{missing}");
    let order =
        sentence_piece(json!([["a", "b"], ["▁", "a"], ["▁", "ab"], ["▁", "b"], ["▁a", "b"]]))
            .unwrap_err()
            .to_string();
    assert!(
        order.contains("field \"model.merges.4\"") && order.contains("to be consecutive"),
        "{order}"
    );
    let nothing = sentence_piece(json!([["b", "a"]])).unwrap_err().to_string();
    assert!(
        nothing.contains("field \"model.merges.0\"")
            && nothing.contains("two tokens whose concatenation is a token"),
        "{nothing}"
    );
}
