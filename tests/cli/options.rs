//! Errors before any model runs, with any solution: options, input and the tokenizer. Also `synth`,
//! which runs no model.

use crate::{
    folder::{Folder, VOCABULARY},
    process::{command, finished, run, run_with_input},
};

#[test]
fn a_wrong_option_gets_one_line() {
    for (args, words) in [
        (&[][..], &["command is missing"][..]),
        (&["sing"], &["sing"]),
        (&["generate", "--colour", "red"], &["--colour"]),
        (&["generate", "-p"], &["--prompt"]),
        (&["generate", "-p", "a", "--temperature", "-1"], &["'-1'", "--temperature", "at least 0"]),
        (&["generate", "-p", "a", "--temperature", "NaN"], &["'NaN'", "--temperature"]),
        (&["generate", "-p", "a", "--temperature", "inf"], &["'inf'", "--temperature"]),
        (&["generate", "-p", "a", "--temperature", "warm"], &["'warm'", "--temperature"]),
        (&["generate", "-p", "a", "--top-k", "-1"], &["'-1'", "--top-k", "whole number"]),
        (&["generate", "-p", "a", "--top-k", "2.5"], &["'2.5'", "--top-k"]),
        (&["generate", "-p", "a", "--top-p", "0"], &["'0'", "--top-p", "above 0 and at most 1"]),
        (&["generate", "-p", "a", "--top-p", "1.01"], &["'1.01'", "--top-p"]),
        (&["generate", "-p", "a", "--top-p", "nan"], &["'nan'", "--top-p"]),
        (&["generate", "-p", "a", "--min-p", "-0.1"], &["'-0.1'", "--min-p", "from 0 to 1"]),
        (&["generate", "-p", "a", "--min-p", "2"], &["'2'", "--min-p"]),
        (
            &["generate", "-p", "a", "--repeat-penalty", "0"],
            &["'0'", "--repeat-penalty", "above 0"],
        ),
        (&["generate", "-p", "a", "-n", "-3"], &["'-3'", "-n", "whole number"]),
        (&["generate", "-p", "a", "-n", "many"], &["'many'", "-n"]),
        (
            &["generate", "-p", "a", "--seed", "18446744073709551616"],
            &["--seed", "18446744073709551615"],
        ),
        (&["chat", "--raw", "--system", "x"], &["--raw", "--system"]),
        (&["logits", "--tokens", "1,2"], &["--out"]),
        (&["logits", "--tokens", "1,b", "--out", "x"], &["'b'", "--tokens", "token ids"]),
        (&["logits", "--tokens", "1,-2", "--out", "x"], &["'-2'", "--tokens"]),
        (&["logits", "--tokens", "", "--out", "x"], &["--tokens"]),
        (&["bench", "--prompt-tokens", "0"], &["'0'", "--prompt-tokens", "at least 1"]),
        (&["score", "--limit", "0"], &["'0'", "--limit"]),
        (&["serve", "--port", "70000"], &["'70000'", "--port"]),
        (&["serve", "--max-batch", "0"], &["'0'", "--max-batch", "from 1 to 256"]),
        (&["serve", "--max-queue", "-1"], &["'-1'", "--max-queue"]),
        (&["serve", "--share-prefixes"], &["--pages"]),
        (&["serve", "--api-key", "a b"], &["--api-key", "without spaces"]),
        (&["serve", "--cors", "a b"], &["--cors", "an origin"]),
        (&["serve", "--week", "1"], &["--week 1", "one text at a time"]),
        (
            &["synth", "--like", "gpt-5", "--out", "x"],
            &["'gpt-5'", "smollm2-360m", "tinyllama-1.1b", "tiny"],
        ),
    ] {
        run(args).fails_in_one_line(&format!("{args:?}"), 2, words);
    }
}

#[test]
fn help_and_version_succeed() {
    let help = run(&["--help"]).succeeds("--help");
    for command in [
        "generate",
        "serve",
        "chat",
        "logits",
        "bench",
        "score",
        "perplexity",
        "synth",
        "inspect",
        "quantize",
    ] {
        assert!(help.stdout.contains(command), "{}", help.stdout);
        run(&[command, "--help"]).succeeds(command);
    }
    assert!(run(&["--version"]).succeeds("--version").stdout.starts_with("tiny-llm "));
}

#[test]
fn a_bad_prompt_gets_one_line() {
    run(&["generate", "-p", ""]).fails_in_one_line("-p with nothing", 1, &["prompt is empty"]);
    let refused = run_with_input(&["generate"], b"");
    refused.fails_in_one_line("nothing piped in", 1, &["prompt is empty"]);
    let refused = run_with_input(&["generate"], b"\n");
    refused.fails_in_one_line("an empty line piped in", 1, &["prompt is empty"]);
    let refused = run_with_input(&["generate"], b"caf\xe9 au lait");
    refused.fails_in_one_line("Latin-1", 1, &["standard input", "0xe9", "offset 3", "UTF-8"]);
    let refused = run_with_input(&["generate"], b"caf\xc3");
    refused.fails_in_one_line("half a character", 1, &["0xc3", "offset 3", "UTF-8"]);
}

#[test]
fn a_bad_tokenizer_gets_one_line() {
    let absent = Folder::absent();
    let refused = run(&["generate", "-p", "a", "--model", absent.name()]);
    refused.fails_in_one_line("no folder", 1, &[absent.name()]);
    let model = Folder::model();
    for command in [&["generate", "-p", "a"][..], &["chat"]] {
        let args = [command, &["--model", model.name()]].concat();
        let words = [&model.file("tokenizer.json"), "cannot be read"];
        run(&args).fails_in_one_line("no tokenizer", 1, &words);
    }
    model.write("tokenizer.json", b"{\"version\": \"1.0\",\n \"model\": 5}");
    run(&["generate", "-p", "a", "--model", model.name()]).fails_in_one_line(
        "no model in it",
        1,
        &["tokenizer.json", "model.vocab", "found nothing"],
    );
}

#[test]
fn bad_questions_get_one_line() {
    let folder = Folder::empty();
    let (questions, stories) = (folder.file("questions.jsonl"), folder.file("stories.jsonl"));
    let score = || run(&["score", "--questions", &questions, "--stories", &stories]);
    score().fails_in_one_line("no questions", 1, &[&questions, "cannot be read"]);
    folder
        .write("questions.jsonl", b"{\"kind\": \"name\", \"prompt\": \"a\", \"answer\": \"b\"}\n{\"kind\": \"name\", \"prompt\": \"a\"}\n");
    score().fails_in_one_line("no answer", 1, &["questions.jsonl:2", "\"answer\"", "string"]);
    folder
        .write("questions.jsonl", b"{\"kind\": \"name\", \"prompt\": \"a\", \"answer\": \"b\"}\n");
    folder.write("stories.jsonl", b"Once upon a time\n");
    score().fails_in_one_line("no JSON", 1, &["stories.jsonl:1", "not JSON"]);
}

#[test]
fn synth_writes_a_whole_folder_or_none() {
    let folder = Folder::model();
    let mut names: Vec<_> =
        std::fs::read_dir(&folder.path).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["config.json", "model.safetensors"]);
    let again = run(&["synth", "--like", "tiny", "--out", folder.name()]);
    again.fails_in_one_line("a folder that is there", 1, &[folder.name(), "already exists"]);
    let nowhere = folder.file("config.json/inside");
    let refused = run(&["synth", "--like", "tiny", "--out", &nowhere]);
    refused.fails_in_one_line("inside a file", 1, &[&nowhere, "cannot be written"]);

    let other = Folder::absent();
    run(&["synth", "--like", "tiny", "--out", other.name(), "--seed", "8"]).succeeds("synth");
    let weights = |f: &Folder| std::fs::read(f.path.join("model.safetensors")).unwrap();
    assert!(weights(&folder) != weights(&other), "another seed gives other weights");
    let checkpoint = tiny_llm_formats::checkpoint::Checkpoint::open(&other.path).unwrap();
    let head = checkpoint.tensor("lm_head.weight", &[VOCABULARY, 20]).unwrap();
    let values: Vec<_> = head
        .bytes
        .chunks_exact(2)
        .map(|b| f32::from_bits(u32::from(u16::from_le_bytes([b[0], b[1]])) << 16))
        .collect();
    let deviation = (values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32).sqrt();
    // Five standard errors: for 1,020 values, one is 1 / √2040 of the deviation.
    assert!((deviation / 0.02 - 1.0).abs() < 0.11, "standard deviation {deviation}");
}

/// `serve` and `fetch` run other programs with the network code, which cargo builds.
#[cfg(unix)]
#[test]
fn serve_and_fetch_run_other_programs() {
    if cfg!(feature = "serve") {
        return;
    }
    let mut command = command(&["serve", "--port", "0", "--host", "localhost"]);
    let said = finished(command.env("CARGO", "echo").output().expect("the binary starts"));
    let said = said.succeeds("serve").stdout;
    let features = if cfg!(feature = "reference") { "serve,reference" } else { "serve" };
    for words in [
        &format!("--package tiny-llm --features {features} --bin tiny-llm-serve "),
        "run --quiet --release --config ",
        " -- serve --port 0 --host localhost\n",
    ] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    // `fetch` is another program too, which parses its own options.
    let mut command = self::command(&["fetch", "owner/name:Q4_0", "--dry-run", "--help"]);
    let said = finished(command.env("CARGO", "echo").output().expect("the binary starts"));
    let said = said.succeeds("fetch").stdout;
    assert!(said.contains("--package tiny-llm-fetch --bin tiny-llm-fetch "), "{said}");
    assert!(said.ends_with(" -- owner/name:Q4_0 --dry-run --help\n"), "{said}");
    let mut command = self::command(&["serve"]);
    let said = finished(command.env("CARGO", "/no/cargo").output().expect("the binary starts"));
    said.fails_in_one_line("no cargo", 1, &["without the server", "cargo"]);
}
