//! `experts`, and the commands that reject models with experts.

use std::fs;

use tiny_llm_harness::fixtures::Json;

use crate::{
    folder::{Folder, MIXTURE},
    process::run,
};

/// In each of the two layers, two of eight experts compute a token.
#[test]
fn experts_of_a_text_are_shown() {
    let said = run(&["experts", "-p", "a fox", "--tokens"]).succeeds("experts");
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines[..5].iter().filter(|line| line.starts_with('"')).count(), 5, "{lines:?}");
    assert!(lines[4].starts_with("\"x\""), "{lines:?}");
    // Three bf16 matrices of 32 × 64 numbers, for two experts, in two layers.
    let bytes = 3 * 32 * 64 * 2 * 2 * 2;
    let cost = lines.last().expect("a line");
    assert!(cost.starts_with(&format!("a token reads {bytes} bytes of expert weights")), "{cost}");
    for layer in ["layer 0:", "layer 1:"] {
        let at = lines.iter().position(|line| line.starts_with(layer)).expect("a layer");
        let loads = lines[at + 1..at + 9].iter().map(|line| {
            let load = line.split_whitespace().nth(1).expect("a load");
            load.parse::<usize>().expect("a number")
        });
        assert_eq!(loads.sum::<usize>(), 5 * 2, "{layer}");
    }
}

#[test]
fn a_model_with_experts_writes_words() {
    let args = ["generate", "--model", MIXTURE, "-p", "once upon a t", "-n", "20"];
    let said = run(&args).succeeds("generate");
    assert!(said.stdout.contains("ime, there was a "), "{}", said.stdout);
}

#[test]
fn batch_of_a_model_with_experts_matches_generate() {
    let files = Folder::empty();
    let prompts = ["once upon a t", "a fox", "the ", "once upon a time, th"];
    let request = |prompt| format!("{{\"prompt\": \"{prompt}\", \"max_tokens\": 20}}\n");
    files.write("requests.jsonl", prompts.map(request).concat().as_bytes());
    let [requests, out] = ["requests.jsonl", "answers.jsonl"].map(|name| files.file(name));
    let alone = prompts.map(|prompt| {
        let args = ["generate", "--model", MIXTURE, "-q", "-p", prompt, "-n", "20"];
        let said = run(&args).succeeds("generate");
        said.stdout.strip_suffix('\n').expect("a line").to_owned()
    });
    for options in
        [&["--max-batch", "4"][..], &["--max-batch", "3", "--pages", "5", "--budget", "7"]]
    {
        let args = ["batch", &requests, "--model", MIXTURE, "--out", &out];
        run(&[&args[..], options].concat()).succeeds("batch");
        let answers = fs::read_to_string(&out).expect("answers");
        let texts: Vec<Json> = answers.lines().map(|line| line.parse().expect("JSON")).collect();
        for (text, alone) in texts.iter().zip(&alone) {
            assert_eq!(text["text"], alone.as_str(), "{options:?}: {answers}");
        }
        assert_eq!(texts.len(), alone.len());
        fs::remove_file(&out).expect("the answers");
    }
}

#[test]
fn unsupported_commands_reject_models_with_experts() {
    for (args, code, words) in [
        (&["experts", "--model", "models/tiny-story", "-p", "a"][..], 1, &["no experts"][..]),
        (
            &["generate", "--model", MIXTURE, "-p", "a", "--engine", "graph"],
            2,
            &["--engine", "experts"],
        ),
        (&["generate", "--model", MIXTURE, "-p", "a", "--week", "1"], 2, &["--week", "experts"]),
        (&["generate", "--model", MIXTURE, "-p", "a", "--draft", "lookup"], 2, &["--draft"]),
        (&["graph", "--model", MIXTURE], 1, &["experts"]),
        (&["quantize", MIXTURE, "x.gguf", "--type", "q8_0"], 1, &["model_type", "qwen3_moe"]),
    ] {
        run(args).fails_in_one_line(&args.join(" "), code, words);
    }
}
