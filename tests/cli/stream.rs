//! `stream-pack` and `stream`: a model whose weights stay in its file.

use std::path::Path;

use crate::{
    folder::{Folder, LLM, STORY},
    process::{Run, run},
};

/// Packs the embedded model into a file, with the options `more`. Returns the file's path.
fn packed(folder: &Folder, more: &[&str]) -> String {
    let file = folder.file("tiny.stream");
    run(&[&["stream-pack", LLM, &file], more].concat()).succeeds("stream-pack");
    file
}

fn story(file: &str, more: &[&str]) -> Run {
    run(&[&["stream", file, "-p", "Once upon a time", "-n", "12"], more].concat())
}

/// Returns the peak memory in bytes from a run's line about memory.
fn peak(run: &Run) -> usize {
    let line = run.stderr.lines().find(|line| line.starts_with("memory ")).expect("a line");
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number of bytes")
}

#[test]
fn text_is_independent_of_the_memory_budget() {
    let folder = Folder::empty();
    let file = packed(&folder, &[]);
    let whole = story(&file, &[]).succeeds("stream");
    assert!(whole.stdout.contains("there"), "a story goes on: {:?}", whole.stdout);
    // For this prompt, no two logits are so close that int8 would change the text.
    let all = ["generate", "--model", LLM, "-p", "Once upon a time", "-n", "12", "--week", "2"];
    assert_eq!(run(&all).succeeds("week 2's engine").stdout, whole.stdout, "as week 2's engine");
    let peak_of_all = peak(&whole);
    assert!(peak_of_all <= 256 * 1024, "{peak_of_all} bytes");
    // A budget equal to the peak is enough. With one byte less, the error names the source line.
    let budget = peak_of_all.to_string();
    assert_eq!(story(&file, &["--budget", &budget]).succeeds("its own peak").stdout, whole.stdout);
    story(&file, &["--budget", &(peak_of_all - 1).to_string()]).fails_in_one_line(
        "a byte less",
        1,
        &["tiny.stream", "week4", "layer.rs:", " needs ", "are free"],
    );
    let small = story(&file, &["-c", "64", "--rows", "8", "--quiet"]).succeeds("little memory");
    assert_eq!((small.stdout, small.stderr), (whole.stdout.clone(), String::new()));
    // Padding rows of the vocabulary change what is read, but not the text.
    let padded = packed(&folder, &["--vocabulary", "2000", "--force"]);
    let found = story(&padded, &["--parts"]).succeeds("a filled vocabulary");
    assert_eq!(found.stdout, whole.stdout);
    assert!(found.stderr.contains("cache: keys"), "{}", found.stderr);
    let seeks = found.stderr.lines().find(|line| line.starts_with("new ")).expect("a line");
    assert!(seeks.contains(" 3.0 of them seeks"), "{seeks}");
    let drawn = |seed: &str| {
        story(&padded, &["--temperature", "2", "--seed", seed]).succeeds("drawn").stdout
    };
    assert_eq!(drawn("3"), drawn("3"));
    assert_ne!(drawn("3"), drawn("4"));
}

#[test]
fn invalid_files_are_rejected_in_one_line() {
    let folder = Folder::empty();
    let file = packed(&folder, &[]);
    let bytes = std::fs::read(&file).unwrap();
    folder.write("short.stream", &bytes[..bytes.len() - 1]);
    let words = ["short.stream", "bytes of the file: found", "expected"];
    story(&folder.file("short.stream"), &[]).fails_in_one_line("one byte short", 1, &words);
    let mut other = bytes;
    other[20] ^= 1;
    folder.write("other.stream", &other);
    let refused = story(&folder.file("other.stream"), &[]);
    refused.fails_in_one_line("another header", 1, &["other.stream", "checksum of the header"]);
    story(&folder.file("none.stream"), &[]).fails_in_one_line("no file", 1, &["none.stream"]);
    story(&format!("{LLM}/tokenizer.json"), &[]).fails_in_one_line(
        "another kind of file",
        1,
        &["tokenizer.json", "the first eight bytes"],
    );
    let out = folder.file("out.stream");
    let words = ["config.json", "num_hidden_layers: found 5, expected 1"];
    run(&["stream-pack", STORY, &out]).fails_in_one_line("five layers", 1, &words);
    run(&["stream-pack", LLM, &out, "--vocabulary", "100"]).fails_in_one_line(
        "fewer rows than tokens",
        1,
        &["rows of the vocabulary: found 100, expected 1536"],
    );
    assert!(!Path::new(&out).exists(), "nothing is written where it failed");
    run(&["stream-pack", LLM, &file]).fails_in_one_line("a file that is there", 1, &["--force"]);
}
