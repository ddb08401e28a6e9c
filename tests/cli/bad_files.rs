//! Damaged model folders, and requests that a model cannot serve.

use std::fs;

use crate::{
    folder::{CONTEXT, Folder},
    process::{self, Run, run},
};

fn logits(folder: &Folder, tokens: &str) -> Run {
    process::logits(folder.name(), tokens, &folder.file("out.safetensors"))
}

#[test]
fn a_bad_model_folder_gets_one_line() {
    type Damage = fn(&Folder);
    let damages: &[(&str, Damage, &[&str])] = &[
        (
            "no config",
            |f| fs::remove_file(f.path.join("config.json")).unwrap(),
            &["config.json", "cannot be read"],
        ),
        (
            "config is no JSON",
            |f| f.write("config.json", b"{\"model_type\": "),
            &["config.json", "not JSON"],
        ),
        (
            "unknown family",
            |f| f.edit_config("\"llama\"", "\"gpt2\""),
            &["config.json", "model_type", "gpt2", "qwen3"],
        ),
        (
            "a field of the wrong type",
            |f| f.edit_config("\"hidden_size\": 20", "\"hidden_size\": \"20\""),
            &["hidden_size", "\"20\""],
        ),
        (
            "no weights",
            |f| fs::remove_file(f.path.join("model.safetensors")).unwrap(),
            &["model.safetensors", "found neither"],
        ),
        (
            "a misnamed tensor",
            |f| f.edit_header("model.norm.weight", "model.nomr.weight"),
            &["model.norm.weight", "model.nomr.weight"],
        ),
        (
            "another vocabulary",
            |f| f.edit_config("\"vocab_size\": 51", "\"vocab_size\": 52"),
            &["embed_tokens", "[51, 20]", "[52, 20]"],
        ),
        (
            "another number of layers",
            |f| f.edit_config("_layers\": 2", "_layers\": 3"),
            &["model.layers.2.", "not found"],
        ),
        (
            "a truncated file",
            |f| f.edit_weights(|b| b.truncate(b.len() - 10)),
            &["model.safetensors", "truncated"],
        ),
        (
            "a file of 5 bytes",
            |f| f.edit_weights(|b| b.truncate(5)),
            &["model.safetensors", "5 bytes"],
        ),
        (
            "a header beyond the file",
            |f| f.edit_weights(|b| b[..8].fill(0x7f)),
            &["model.safetensors", "header"],
        ),
        (
            "a header that is no JSON",
            |f| f.edit_weights(|b| b[8] = b'!'),
            &["model.safetensors", "header"],
        ),
        (
            "a shape that the bytes do not have",
            |f| f.edit_header("\"shape\":[51,20]", "\"shape\":[51,21]"),
            &["model.safetensors", "[51, 21]"],
        ),
        (
            "a type that is not supported",
            |f| f.edit_header("\"dtype\":\"BF16\"", "\"dtype\":\"I16\" "),
            &["lm_head.weight", "I16", "BF16"],
        ),
    ];
    for (what, damage, words) in damages {
        let folder = Folder::model();
        damage(&folder);
        logits(&folder, "1,2,3").fails_in_one_line(what, 1, words);
        assert!(!folder.path.join("out.safetensors").exists(), "{what}: no file is left");
    }
    let absent = Folder::absent();
    let refused = logits(&absent, "1");
    refused.fails_in_one_line("no folder", 1, &[absent.name(), "no such file or folder"]);
}

#[test]
fn tokens_that_do_not_fit_get_one_line() {
    let folder = Folder::model();
    let refused = logits(&folder, "1,51,2");
    refused.fails_in_one_line("id 51 of 0 to 50", 1, &["token 51", "position 1", "0 to 50"]);
    let long = vec!["1"; CONTEXT + 1].join(",");
    let refused = logits(&folder, &long);
    refused.fails_in_one_line("25 tokens in a context of 24", 1, &["25 tokens", "context of 24"]);
    let refused = run(&["bench", "--model", folder.name(), "--prompt-tokens", "25"]);
    refused.fails_in_one_line("bench", 1, &["25 tokens", "24"]);
    run(&["bench", "--model", folder.name(), "--prompt-tokens", "20", "-n", "5"])
        .fails_in_one_line("bench", 1, &["-n: found 5", "at most 4"]);

    let folder = Folder::model_with_tokenizer();
    let prompt = "a".repeat(CONTEXT);
    let generate = run(&["generate", "--model", folder.name(), "-p", &prompt]);
    let words = ["25 tokens", "context of 24"];
    generate.fails_in_one_line("<s> and 24 letters in a context of 24", 1, &words);
}

#[test]
fn a_missing_gguf_file_is_reported_as_a_missing_file() {
    let run = run(&["generate", "--model", "nowhere/model.gguf", "-p", "Once"]);
    run.fails_in_one_line("no such file", 1, &["nowhere/model.gguf", "no such file"]);
}

#[test]
fn an_output_that_cannot_be_written_gets_one_line() {
    let folder = Folder::model();
    for out in [
        folder.file("nowhere/out.safetensors"),
        folder.file("config.json/out.safetensors"),
        folder.name().to_owned(),
    ] {
        let run = process::logits(folder.name(), "1", &out);
        run.fails_in_one_line(&out, 1, &[&out, "cannot be written"]);
    }
    // No unfinished file is left beside the folder, where other tests' folders are, or in it.
    let name = folder.path.file_name().unwrap().to_string_lossy();
    let beside: Vec<_> = fs::read_dir(folder.path.parent().unwrap())
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    assert!(
        !beside.iter().any(|other| other.to_string_lossy().starts_with(&format!(".{name}."))),
        "{beside:?}"
    );
    assert_eq!(
        fs::read_dir(&folder.path).unwrap().count(),
        2,
        "config.json and model.safetensors alone"
    );
}
