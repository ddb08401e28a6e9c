//! The learner's code, with any number of tasks missing.

use std::fs;

use crate::{
    folder::Folder,
    process::{logits, run_with_input},
};

#[test]
fn every_command_works_or_says_which_task_is_missing() {
    let model = Folder::model_with_tokenizer();
    let out = model.file("out.safetensors");
    let cache = model.file("prompt.cache");
    let sampled =
        ["--temperature", "1", "--top-k", "5", "--top-p", "0.9", "--repeat-penalty", "1.1"];
    for command in [
        &["generate", "-p", "abc", "-n", "4"][..],
        &[&["generate", "-p", "abc", "-n", "4"], &sampled[..]].concat(),
        &["generate", "-p", "abc", "-n", "4", "--draft", "lookup"],
        &["generate", "-p", "abc", "-n", "4", "--cache", &cache],
        &["chat", "-n", "2"],
        &["generate", "-p", "abc", "-n", "4", "--engine", "graph"],
        &["logits", "--tokens", "1,2", "--out", &out],
        &["bench", "--prompt-tokens", "4", "-n", "2"],
    ] {
        let args = [command, &["--model", model.name()]].concat();
        let run = run_with_input(&args, b"a\n");
        if run.code != 0 {
            // A stub panics with these words. Any other error means a wrong solution.
            run.fails_in_one_line(
                &args.join(" "),
                101,
                &[
                    "this needs week1-day",
                    "task",
                    "(src/week1/",
                    "; run cargo test --features week1-day",
                ],
            );
        }
    }
}

#[test]
fn a_missing_task_is_named() {
    let source =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/week1/model/weights.rs"))
            .expect("the repository is whole");
    let model = Folder::model();
    let run = logits(model.name(), "1", &model.file("out.safetensors"));
    if source.contains("todo!(\"week1-day5 task 4: load_model\")") {
        let line = "this needs week1-day5 task 4: load_model (src/week1/model/weights.rs); run cargo \
                    test --features week1-day5\n";
        run.fails_in_one_line("load_model", 101, &[]);
        assert_eq!(run.stderr, line);
    } else {
        assert!(!run.stderr.contains("task 4: load_model"), "{}", run.stderr);
    }
}
