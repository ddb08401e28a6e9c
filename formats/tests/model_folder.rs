//! Reads `config.json` in both forms, and safetensors in one file and in shards. Whatever is
//! rejected causes a one-line error.

#[path = "model_folder/files.rs"]
mod files;

use std::{fs, path::Path};

use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use tempfile::TempDir;
use tiny_llm_formats::{
    checkpoint::Checkpoint,
    config::{Family, ModelConfig},
};

/// Returns fields of SmolLM2-360M's `config.json`, as on the hub.
fn llama() -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"], "attention_bias": false, "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu",
        "hidden_size": 960, "intermediate_size": 2560, "max_position_embeddings": 8192, "mlp_bias": false, "model_type": "llama",
        "num_attention_heads": 15, "num_hidden_layers": 32, "num_key_value_heads": 5, "rms_norm_eps": 1e-5, "rope_scaling": null,
        "rope_theta": 100000, "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 49152
    })
}

/// Returns `base` with some fields replaced. A field that is null counts as absent.
fn with(mut base: Value, fields: Value) -> Value {
    for (field, value) in fields.as_object().expect("fields") {
        base[field] = value.clone();
    }
    base
}

/// Reads [`llama`] with these fields replaced.
fn read(fields: Value) -> anyhow::Result<ModelConfig> {
    ModelConfig::from_json(&with(llama(), fields).to_string(), "config.json")
}

fn config(fields: Value) -> ModelConfig {
    read(fields).expect("a configuration that is in use")
}

#[track_caller]
fn refused(fields: Value, parts: &[&str]) {
    assert_explains(&read(fields).expect_err("to be refused").to_string(), parts);
}

#[track_caller]
fn assert_explains(message: &str, parts: &[&str]) {
    assert!(!message.contains('\n'), "more than one line: {message}");
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

#[test]
fn reads_the_older_form() {
    let c = config(json!({}));
    assert_eq!(
        (c.family, c.hidden_size, c.n_layers, c.n_heads, c.n_kv_heads),
        (Family::Llama, 960, 32, 15, 5)
    );
    assert_eq!(
        (c.head_dim, c.intermediate_size, c.vocab_size, c.max_positions),
        (64, 2560, 49152, 8192)
    );
    assert_eq!((c.rope_theta, c.rope_scaling, c.rms_norm_eps), (100_000.0, None, 1e-5));
    assert_eq!(
        (c.qkv_bias, c.o_bias, c.qk_norm, c.tie_word_embeddings),
        (false, false, false, true)
    );
    assert_eq!((c.bos_token_id, c.eos_token_ids), (Some(1), vec![2]));
}

#[test]
fn reads_the_form_of_transformers_5() {
    let new = config(
        json!({"rope_theta": null, "torch_dtype": null, "dtype": "bfloat16", "rope_parameters": {"rope_theta": 100000.0, "rope_type": "default"}}),
    );
    assert_eq!(new, config(json!({})));
}

#[test]
fn missing_fields_have_defaults() {
    let c = config(
        json!({"num_key_value_heads": null, "attention_bias": null, "rope_theta": null, "tie_word_embeddings": null, "bos_token_id": null, "eos_token_id": null}),
    );
    assert_eq!((c.n_kv_heads, c.rope_theta, c.tie_word_embeddings), (15, 10_000.0, false));
    assert_eq!((c.bos_token_id, c.eos_token_ids), (None, vec![]));
}

#[test]
fn the_three_families_differ_in_bias_and_norm() {
    let has = |fields| {
        let c = config(fields);
        (c.qkv_bias, c.o_bias, c.qk_norm)
    };
    assert_eq!(has(json!({"model_type": "llama"})), (false, false, false));
    assert_eq!(has(json!({"model_type": "llama", "attention_bias": true})), (true, true, false));
    assert_eq!(has(json!({"model_type": "qwen2"})), (true, false, false));
    assert_eq!(has(json!({"model_type": "qwen2", "attention_bias": false})), (true, false, false));
    assert_eq!(has(json!({"model_type": "qwen3", "head_dim": 128})), (false, false, true));
    assert_eq!(
        has(json!({"model_type": "qwen3", "head_dim": 128, "attention_bias": true})),
        (true, true, true)
    );
}

#[test]
fn reads_and_checks_the_head_size() {
    assert_eq!(config(json!({"head_dim": 128})).head_dim, 128);
    refused(json!({"model_type": "qwen3"}), &["\"head_dim\"", "found nothing"]);
    refused(json!({"hidden_size": 961}), &["\"head_dim\"", "961", "15"]);
    refused(json!({"head_dim": 63}), &["\"head_dim\"", "found 63", "even"]);
    refused(json!({"head_dim": 4098}), &["\"head_dim\"", "found 4098", "from 1 to 4096"]);
    refused(
        json!({"hidden_size": 1 << 20, "num_attention_heads": 1, "num_key_value_heads": 1}),
        &["\"head_dim\""],
    );
}

#[test]
fn reads_and_applies_llama_3_scaling() {
    let scaling = json!({"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"});
    let old = config(json!({"rope_theta": 500000.0, "rope_scaling": scaling}));
    let mut new = scaling.clone();
    new["rope_theta"] = json!(500000.0);
    assert_eq!(
        old,
        config(json!({"rope_theta": null, "rope_scaling": null, "rope_parameters": new}))
    );

    // 8 turns within 8192 positions are unchanged, and half a turn is divided by 32. 2.5 turns are
    // halfway between 1 and 4, which gives the mean of both.
    let turns = |n: f64| (n * std::f64::consts::TAU / 8192.0) as f32;
    let scaled = old.scale_frequencies(vec![turns(8.0), turns(0.5), turns(2.5)]);
    let expected = [turns(8.0), turns(0.5) / 32.0, turns(2.5) * (1.0 + 1.0 / 32.0) / 2.0];
    for (found, expected) in scaled.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 3e-7, "found {scaled:?}, expected {expected:?}");
    }
    assert_eq!(
        config(json!({})).scale_frequencies(vec![1.0, 0.1]),
        [1.0, 0.1],
        "no scaling changes nothing"
    );

    let scaled = |fields: Value| json!({"rope_scaling": with(scaling.clone(), fields)});
    refused(
        scaled(json!({"rope_type": "yarn"})),
        &["\"rope_scaling.rope_type\"", "\"yarn\"", "\"llama3\""],
    );
    refused(
        scaled(json!({"rope_type": null, "type": "linear"})),
        &["\"rope_scaling.type\"", "\"linear\""],
    );
    refused(scaled(json!({"factor": null})), &["\"rope_scaling.factor\"", "found nothing"]);
    refused(
        scaled(json!({"low_freq_factor": 4})),
        &["\"rope_scaling.low_freq_factor\"", "below high_freq_factor"],
    );
    refused(
        scaled(json!({"original_max_position_embeddings": 0})),
        &["original_max_position_embeddings", "found 0"],
    );
    refused(json!({"rope_scaling": 4}), &["\"rope_scaling\"", "found 4", "object"]);
}

#[test]
fn rejects_unsupported_models() {
    refused(json!({"model_type": "gemma3"}), &["\"model_type\"", "\"gemma3\"", "\"qwen3\""]);
    refused(json!({"model_type": null}), &["\"model_type\"", "found nothing"]);
    refused(json!({"hidden_act": "gelu"}), &["\"hidden_act\"", "\"gelu\"", "\"silu\""]);
    refused(json!({"mlp_bias": true}), &["\"mlp_bias\"", "found true"]);
    refused(
        json!({"model_type": "qwen2", "use_sliding_window": true}),
        &["\"use_sliding_window\""],
    );
    refused(
        json!({"layer_types": ["full_attention", "sliding_attention"]}),
        &["\"layer_types\"", "sliding_attention"],
    );
    refused(json!({"partial_rotary_factor": 0.5}), &["\"partial_rotary_factor\""]);
    refused(
        json!({"quantization_config": {"quant_method": "gptq"}}),
        &["\"quantization_config\"", "gptq"],
    );
    // Accepts a sliding window that is switched off, as in Qwen2.5's files.
    config(
        json!({"model_type": "qwen2", "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28}),
    );
}

#[test]
fn rejects_missing_and_invalid_values() {
    let sizes = [
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "vocab_size",
        "max_position_embeddings",
    ];
    for field in sizes {
        for absurd in [
            json!(null),
            json!(0),
            json!(-1),
            json!(1.5),
            json!("12"),
            json!(u64::MAX),
            json!(1u64 << 40),
            json!([1]),
        ] {
            let found = if absurd.is_null() { "nothing".to_owned() } else { absurd.to_string() };
            refused(
                json!({field: absurd}),
                &[
                    "config.json",
                    &format!("\"{field}\""),
                    &format!("found {found}"),
                    "whole number from 1 to",
                ],
            );
        }
    }
    refused(json!({"num_key_value_heads": 4}), &["\"num_key_value_heads\"", "found 4", "15"]);
    refused(
        json!({"num_attention_heads": 1 << 20, "num_key_value_heads": 1, "head_dim": 1 << 10}),
        &["\"num_attention_heads\"", "head size"],
    );
    for eps in [json!(null), json!(0), json!(-1e-5), json!(1), json!(1e-60), json!("small")] {
        refused(json!({"rms_norm_eps": eps}), &["\"rms_norm_eps\"", "above 0"]);
    }
    refused(json!({"rope_theta": 0}), &["\"rope_theta\"", "found 0"]);
    refused(json!({"tie_word_embeddings": "yes"}), &["\"tie_word_embeddings\"", "true or false"]);
    refused(json!({"eos_token_id": [2, 49152]}), &["\"eos_token_id\"", "49152"]);
    let list = ModelConfig::from_json("[1, 2]", "config.json").unwrap_err().to_string();
    assert_explains(&list, &["config.json", "found [1,2]", "JSON object"]);
}

#[test]
fn stop_tokens_prefer_the_generation_config() {
    let folder = TempDir::new().unwrap();
    let write =
        |name: &str, json: Value| fs::write(folder.path().join(name), json.to_string()).unwrap();
    let stops = || ModelConfig::from_folder(folder.path()).map(|c| c.eos_token_ids);
    write("config.json", llama());
    assert_eq!(stops().unwrap(), [2]);
    write("generation_config.json", json!({"do_sample": true}));
    assert_eq!(stops().unwrap(), [2]);
    write("generation_config.json", json!({"eos_token_id": [7, 9]}));
    assert_eq!(stops().unwrap(), [7, 9]);
    write("generation_config.json", json!({"eos_token_id": "seven"}));
    assert_explains(
        &stops().unwrap_err().to_string(),
        &["generation_config.json", "\"eos_token_id\"", "\"seven\""],
    );

    let missing = folder.path().join("nowhere");
    let error = ModelConfig::from_folder(&missing).unwrap_err().to_string();
    assert_explains(&error, &["nowhere", "no such folder"]);
    fs::remove_file(folder.path().join("config.json")).unwrap();
    assert_explains(&stops().unwrap_err().to_string(), &["config.json", "cannot be read"]);
    fs::write(folder.path().join("config.json"), "{\"model_type\": ").unwrap();
    assert_explains(&stops().unwrap_err().to_string(), &["config.json", "not JSON", "line 1"]);
}
