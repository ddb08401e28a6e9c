//! Every command on a complete model.

use std::io::Read;

use tiny_llm::week1::weights::{load_model, to_f32};
use tiny_llm_formats::{checkpoint::Checkpoint, tensor::tensor};

use crate::{
    folder::{CONTEXT, Folder, VOCABULARY},
    process::{command, finished, logits, run, run_with_input},
};

#[test]
fn logits_match_the_model() {
    let (model, out) = (Folder::model(), Folder::empty());
    let tokens = [3, 50, 0, 3];
    logits(model.name(), "3, 50,0,3", &out.file("model.safetensors")).succeeds("logits");
    let written = Checkpoint::open(&out.path).unwrap();
    let written = to_f32(&written.tensor("logits", &[4, VOCABULARY]).unwrap()).unwrap();
    let expected = load_model(&model.path)
        .unwrap()
        .forward(&ndarray::Array2::from_shape_vec((1, 4), tokens.to_vec()).unwrap());
    assert_eq!(
        written,
        tensor(&[4, VOCABULARY], expected.iter().copied().collect()),
        "the same numbers, bit for bit"
    );
    let files = std::fs::read_dir(&out.path).unwrap().count();
    assert_eq!(files, 1, "nothing unfinished is left beside the file");
}

#[test]
fn generate_prints_text_to_stdout_and_speeds_to_stderr() {
    let model = Folder::model_with_tokenizer();
    let generate = |more: &[&str]| {
        run(&[&["generate", "--model", model.name(), "-p", "abc", "-n", "6"], more].concat())
            .succeeds("generate")
    };
    let loud = generate(&[]);
    let quiet = generate(&["--quiet"]);
    assert_eq!(quiet.stderr, "");
    assert_eq!(loud.stdout, quiet.stdout);
    assert!(loud.stdout.ends_with('\n') && loud.stdout.len() > 6, "{:?}", loud.stdout);
    for part in [
        "load ",
        "prefill  4 tokens, ",
        "first token after",
        "decode   5 tokens, ",
        "tokens/s",
        "finish   the limit of 6 new tokens is reached",
    ] {
        assert!(loud.stderr.contains(part), "expected {part:?} in {}", loud.stderr);
    }
    assert_eq!(generate(&["--quiet", "--echo"]).stdout, format!("abc{}", quiet.stdout));
    // --raw leaves out the <s> that this tokenizer puts before a text.
    assert!(generate(&["--raw"]).stderr.contains("prefill  3 tokens, "));

    let piped = run_with_input(&["generate", "--model", model.name(), "-n", "6", "-q"], b"abc\n")
        .succeeds("piped");
    assert_eq!(piped.stdout, quiet.stdout, "a final line break is no part of the prompt");
    let nothing =
        run(&["generate", "--model", model.name(), "-p", "abc", "-n", "0"]).succeeds("-n 0");
    assert_eq!(nothing.stdout, "");
}

#[test]
fn a_seed_determines_the_text() {
    let model = Folder::model_with_tokenizer();
    let generate = |seed: &str| {
        let args = ["generate", "--model", model.name(), "-p", "abc", "-n", "16", "-q"];
        let sampled = ["--temperature", "2", "--top-k", "40", "--min-p", "0.01", "--seed", seed];
        run(&[args, sampled].concat()).succeeds("generate").stdout
    };
    assert_eq!(generate("1"), generate("1"));
    assert_ne!(generate("1"), generate("2"));
}

#[test]
fn generate_reports_why_it_finished() {
    let model = Folder::model_with_tokenizer();
    let full = run(&["generate", "--model", model.name(), "-p", "abc", "-n", "100"])
        .succeeds("a full context");
    assert!(
        full.stderr.contains(&format!("finish   the context of {CONTEXT} tokens is full")),
        "{}",
        full.stderr
    );
    // Every token is a stop token.
    let every: Vec<_> = (0..VOCABULARY).map(|id| id.to_string()).collect();
    model.write(
        "generation_config.json",
        format!("{{\"eos_token_id\": [{}]}}", every.join(", ")).as_bytes(),
    );
    let stopped = run(&["generate", "--model", model.name(), "-p", "abc"]).succeeds("a stop token");
    assert!(stopped.stderr.contains("finish   the model ended its text"), "{}", stopped.stderr);
    assert_eq!(stopped.stdout, "");
}

#[test]
fn chat_keeps_earlier_messages() {
    let model = Folder::model_with_tokenizer();
    model.edit_config(
        &format!("\"max_position_embeddings\": {CONTEXT}"),
        "\"max_position_embeddings\": 500",
    );
    let chat = |input: &[u8]| run_with_input(&["chat", "--model", model.name(), "-n", "3"], input);
    let prefills = |stderr: &str| -> Vec<usize> {
        stderr
            .lines()
            .map(|line| {
                line.strip_prefix("[prefill ").unwrap().split(' ').next().unwrap().parse().unwrap()
            })
            .collect()
    };
    let two = chat(b"abc\n\nde\n").succeeds("two messages");
    let counts = prefills(&two.stderr);
    // <|im_start|>, "user", line break, "abc", <|im_end|>, line break, <|im_start|>, "assistant",
    // line break: one token a letter.
    assert_eq!(counts[0], 1 + 4 + 1 + 3 + 1 + 1 + 1 + 9 + 1);
    // The first message, its answer and the second message. The answer's text may be encoded as
    // other tokens than were generated.
    assert!(counts[1] > counts[0] + 2 + 20, "{counts:?}");
    assert_eq!(counts.len(), 2, "an empty line is no message");
    assert!(two.stdout.lines().count() >= 2, "{}", two.stdout);

    let cleared = chat(b"abc\n/clear\nabc\n/exit\nabc\n").succeeds("/clear");
    assert_eq!(prefills(&cleared.stderr), [counts[0]; 2]);
    chat(b"").succeeds("no message at all");
    let broken = chat(b"abc\nd\xffe\n");
    assert_eq!(broken.code, 1);
    assert!(
        broken.stderr.lines().last().unwrap().contains("0xff at offset 5"),
        "{}",
        broken.stderr
    );
}

#[test]
fn chat_uses_the_folders_template() {
    let model = Folder::model_with_tokenizer();
    model.write(
        "tokenizer_config.json",
        br#"{"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}a"}"#,
    );
    let chat =
        run_with_input(&["chat", "--model", model.name(), "-n", "2", "--system", "xyz"], b"bc\n")
            .succeeds("chat");
    assert!(chat.stderr.starts_with("[prefill 6 tokens"), "{}", chat.stderr);
    let raw = run_with_input(&["chat", "--model", model.name(), "-n", "2", "--raw"], b"bc\n")
        .succeeds("chat --raw");
    assert!(raw.stderr.starts_with("[prefill 2 tokens"), "{}", raw.stderr);

    let long = run_with_input(&["chat", "--model", model.name()], "b".repeat(30).as_bytes());
    long.fails_in_one_line("31 tokens", 1, &["31 tokens", "context of 24"]);
    model.write("tokenizer_config.json", br#"{"chat_template": "{% for m in"}"#);
    let refused = run_with_input(&["chat", "--model", model.name()], b"b\n");
    refused.fails_in_one_line("broken template", 1, &["tokenizer_config.json", "template"]);
}

#[test]
fn chat_without_a_template_is_an_error() {
    let model = Folder::model_with_tokenizer();
    let json = std::fs::read_to_string(model.path.join("tokenizer.json")).unwrap();
    model.write("tokenizer.json", json.replace("<|im_start|>", "<|begin|>").as_bytes());
    let words = [model.name(), "no chat template", "generate"];
    let refused = run_with_input(&["chat", "--model", model.name()], b"b\n");
    refused.fails_in_one_line("no template", 1, &words);
}

/// Starts a generation that is long enough to be interrupted, and short enough that a failing test
/// does not hang.
fn long_generation(model: &Folder) -> std::process::Child {
    model.edit_config(
        &format!("\"max_position_embeddings\": {CONTEXT}"),
        "\"max_position_embeddings\": 4000",
    );
    command(&["generate", "--model", model.name(), "-p", "abc", "-n", "3000"])
        .spawn()
        .expect("the binary starts")
}

#[test]
fn a_closed_pipe_is_no_error() {
    let model = Folder::model_with_tokenizer();
    let mut child = long_generation(&model);
    let mut byte = [0];
    let mut out = child.stdout.take().expect("piped");
    out.read_exact(&mut byte).expect("text comes as it is generated");
    drop(out);
    let run = finished(child.wait_with_output().expect("it ends")).succeeds("a closed pipe");
    assert!(
        run.stderr.contains("finish   standard output was closed") && !run.stderr.contains("error"),
        "{}",
        run.stderr
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_a_report() {
    let model = Folder::model_with_tokenizer();
    let mut child = long_generation(&model);
    let mut byte = [0];
    let out = child.stdout.as_mut().expect("piped");
    out.read_exact(&mut byte).expect("text comes as it is generated");
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(kill.success());
    let run = finished(child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert!(run.stdout.ends_with('\n'), "the line is ended");
    assert!(
        run.stderr.contains("finish   interrupted") && run.stderr.contains("tokens/s"),
        "{}",
        run.stderr
    );
}
