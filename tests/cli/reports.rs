//! Commands that report speed, files and scores.

use tiny_llm::week2::{blocks::dequantize_row, gguf::Gguf};

use crate::{
    folder::{Folder, STORY},
    process::{run, run_with_input},
};

#[test]
fn bench_reports_speed_and_memory() {
    let model = Folder::model();
    let args =
        ["bench", "--model", model.name(), "--prompt-tokens", "8", "-n", "4", "--repeat", "2"];
    let text = run(&args).succeeds("bench").stdout;
    for line in [
        "model ",
        "files ",
        "weights ",
        "load ",
        "prefill    8 tokens, ",
        "decode     3 tokens, ",
        "peak ",
    ] {
        assert!(
            text.contains(&format!("\n{line}")) || text.starts_with(line),
            "expected {line:?} in\n{text}"
        );
    }
    assert_eq!(
        text.contains("not measured on this platform"),
        cfg!(not(target_os = "linux")),
        "{text}"
    );
    let json = run(&[&args[..], &["--json"]].concat()).succeeds("bench --json").stdout;
    assert_eq!(json.lines().count(), 1);
    let parameters = 51 * 20 * 2 + 20 + 2 * (2 * 20 + 20 * 48 * 2 + 20 * 16 * 2 + 3 * 20 * 28);
    for field in [
        format!("\"parameters\":{parameters},"),
        // Neither the embedding, of which a token reads one row, nor the five norms count.
        format!("\"weight_bytes\":{}", 4 * (parameters - 51 * 20 - 5 * 20)),
        "\"decode_tokens_per_second\":".to_owned(),
        "\"memory_peak_bytes\":".to_owned(),
    ] {
        assert!(json.contains(&field), "expected {field} in {json}");
    }
}

#[test]
fn synth_writes_gguf_files_of_every_type() {
    let folder = Folder::empty();
    for name in [
        "f32", "f16", "bf16", "q8_0", "q6_k", "q5_k_m", "q5_1", "q5_0", "q4_k_m", "q4_1", "q4_0",
        "q3_k_m", "q2_k",
    ] {
        let file = folder.file(name);
        let said = run(&["synth", "--like", "tiny-256", "--type", name, "--out", &file])
            .succeeds("synth")
            .stdout;
        assert!(said.contains("bits each"), "{said}");
        let gguf = Gguf::open(file.as_ref()).unwrap();
        for info in gguf.tensors.iter().filter(|info| info.shape.len() == 2) {
            let [rows, cols] = *info.shape else { continue };
            let bytes = gguf.bytes_of(info);
            let mut values = vec![0.0; rows * cols];
            for (row, bytes) in
                values.chunks_exact_mut(cols).zip(bytes.chunks_exact(bytes.len() / rows))
            {
                dequantize_row(info.tensor_type, bytes, row);
            }
            let deviation =
                (values.iter().map(|x| x * x).sum::<f32>() / values.len() as f32).sqrt();
            // The tolerance allows for the smallest matrix: 64 · 256 weights in 64 blocks, some of
            // which have random scales.
            assert!(
                (deviation / 0.02 - 1.0).abs() < 0.1,
                "{name}: {} in {}: standard deviation {deviation}",
                info.name,
                info.tensor_type
            );
        }
    }
    let file = folder.file("q4_k_m");
    let args = ["bench", "--json", "--model", &file, "--prompt-tokens", "4", "-n", "3"];
    let json = run(&[&args[..], &["--repeat", "2", "-j", "2"]].concat()).succeeds("bench");
    assert!(json.stdout.contains("\"threads\":2"), "{}", json.stdout);
    let again = run(&["synth", "--like", "tiny", "--type", "q8_0", "--out", &file]);
    again.fails_in_one_line("a file that is there", 1, &[&file, "already exists"]);
    let other = folder.file("other");
    let refused = run(&["synth", "--like", "tiny", "--type", "q9", "--out", &other]);
    refused.fails_in_one_line("no such type", 2, &["\"q9\"", "q4_k_m"]);
    assert!(!std::path::Path::new(&other).exists());
    // Other options whose values only the engine knows.
    for (option, value, expected) in [
        ("--kernels", "fast", "naive"),
        ("--attention", "none", "streaming"),
        ("--cache-type", "q8", "f32, f16 or q8_0"),
    ] {
        let run =
            run(&["logits", "--model", &file, "--tokens", "1", "--out", &other, option, value]);
        run.fails_in_one_line(option, 2, &[option, value, expected]);
    }
}

#[test]
fn inspect_lists_what_a_file_holds() {
    let folder = Folder::empty();
    let file = folder.file("model.gguf");
    run(&["synth", "--like", "tiny", "--type", "q8_0", "--out", &file]).succeeds("synth");
    let said = run(&["inspect", &file]).succeeds("inspect").stdout;
    let gguf = Gguf::open(file.as_ref()).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = said.lines().map(words).collect();
    for (key, _) in gguf.metadata.iter() {
        assert!(
            lines.iter().any(|line| line.first().is_some_and(|word| word == key)),
            "{key} is not in {said}"
        );
    }
    for info in &gguf.tensors {
        let line =
            words(&format!("{} {} {:?} {}", info.name, info.tensor_type, info.shape, info.size));
        assert!(lines.contains(&line), "{line:?} is not in {said}");
    }
    let bytes: usize = gguf.tensors.iter().map(|info| info.size).sum();
    assert!(
        said.contains(&format!("{} tensors", gguf.tensors.len()))
            && said.contains(&format!(" {bytes} bytes, ")),
        "{said}"
    );
    assert!(!said.contains("tokens/s"), "the machine is not measured unless asked for: {said}");
    let threads =
        run(&["inspect", &file, "--roofline", "-j", "1"]).succeeds("inspect --roofline").stdout;
    assert!(threads.starts_with(&said) && threads.contains("at most"), "{threads}");

    let refused = run(&["inspect", &file, "-j", "1"]);
    refused.fails_in_one_line("threads without --roofline", 2, &["--roofline"]);
    let refused = run(&["inspect", &folder.file("absent")]);
    refused.fails_in_one_line("no file", 1, &["absent", "no such file"]);
    run(&["inspect", folder.name()]).fails_in_one_line("a folder", 1, &["config.json"]);
    folder.write("text.gguf", b"once upon a time");
    let refused = run(&["inspect", &folder.file("text.gguf")]);
    refused.fails_in_one_line("a text", 1, &["text.gguf", "magic", "once", "GGUF"]);
    let whole = std::fs::read(&file).unwrap();
    folder.write("cut.gguf", &whole[..whole.len() - 100]);
    let refused = run(&["inspect", &folder.file("cut.gguf")]);
    refused.fails_in_one_line("a file that is cut off", 1, &["cut.gguf", "tensor", "truncated"]);
}

#[test]
fn bench_starts_every_repetition_with_an_empty_cache() {
    let folder = Folder::empty();
    let file = folder.file("model.gguf");
    run(&["synth", "--like", "tiny-256", "--type", "q8_0", "--out", &file]).succeeds("synth");
    let prefill = |repeat: &str| {
        let args = ["bench", "--json", "--model", &file, "--prompt-tokens", "200", "-n", "1"];
        let options = ["-j", "1", "--kernels", "naive", "--repeat", repeat];
        let json = run(&[&args[..], &options].concat()).succeeds("bench").stdout;
        let seconds = json
            .split("\"prefill_seconds\":")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap()
            .to_owned();
        seconds.trim_end_matches("}\n").parse::<f64>().unwrap()
    };
    // A prompt that is still in the cache would take a hundredth of the time.
    let (once, again) = (prefill("1"), prefill("2"));
    assert!(again > once / 20.0, "{once} s the first time, at best {again} s with a second time");
}

#[test]
fn score_counts_by_kind() {
    let model = Folder::model_with_tokenizer();
    // The right answer is what the model generates greedily after "ab". The context of 24 ends it
    // before the limit of 48 tokens.
    let said =
        run(&["generate", "--model", model.name(), "-p", "ab", "-q"]).succeeds("generate").stdout;
    let question = |kind: &str, answer: &str| {
        format!("{{\"kind\": {kind:?}, \"prompt\": \"ab\", \"answer\": {:?}}}\n", answer.trim())
    };
    let questions = [
        question("name", &said),
        question("name", "wrong"),
        question("place", &said),
        question("place", &said),
    ]
    .concat();
    model.write("questions.jsonl", questions.as_bytes());
    model.write("stories.jsonl", b"{\"text\": \"abcde\"}\n{\"text\": \"xyz\"}\n");
    model.write(
        "scores.json",
        b"{\"chance\": {\"name\": 0.125}, \"guess_in_story\": {\"name\": 0.5}}",
    );
    let (questions, stories) = (model.file("questions.jsonl"), model.file("stories.jsonl"));
    let args = ["score", "--model", model.name(), "--questions", &questions, "--stories", &stories];
    let table = run(&args).succeeds("score").stdout;
    let cells: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(cells[1], ["name", "1/2", "50.0", "%", "50.0", "%", "12.5", "%"]);
    assert_eq!(cells[2], ["place", "2/2", "100.0", "%"]);
    assert_eq!(cells[3], ["all", "3/4", "75.0", "%"]);
    assert!(table.contains("over 2 stories"), "{table}");
    // Random weights are about as bad as a guess among 51 tokens.
    let perplexity: f64 = cells[4][1].parse().unwrap();
    assert!((40.0..65.0).contains(&perplexity), "{table}");
    let one = run(&[&args[..], &["--limit", "1"]].concat()).succeeds("--limit").stdout;
    assert!(one.contains("2/2") && one.contains("over 1 story"), "{one}");
}

#[test]
fn a_gguf_file_gives_the_same_results_as_its_folder() {
    let folder = Folder::empty();
    let file = folder.file("story.gguf");
    run(&["quantize", STORY, &file, "--type", "f32"]).succeeds("quantize");
    let both = |args: &[&str], input: &[u8]| {
        [STORY, &file].map(|model| {
            run_with_input(&[args, &["--model", model]].concat(), input).succeeds(args[0]).stdout
        })
    };
    let [from_folder, from_file] =
        both(&["generate", "-q", "-n", "8", "-p", "Once upon a time"], b"");
    assert_eq!(from_file, from_folder);
    let [from_folder, from_file] = both(&["chat", "-q", "-n", "8"], b"Hi, it's 12 o'clock!\n");
    assert_eq!(from_file, from_folder);

    folder.write(
        "stories.jsonl",
        "{\"text\": \"Tom had a dog. Café, naïve 😀.\"}\n{\"text\": \"Hi.\"}\n".as_bytes(),
    );
    let stories = folder.file("stories.jsonl");
    let number = |json: &str, field: &str| -> f64 {
        let rest = json
            .split(&format!("\"{field}\":"))
            .nth(1)
            .unwrap_or_else(|| panic!("{field} in {json}"));
        rest.trim_start_matches([' ', ':']).split([',', '}']).next().unwrap().parse().unwrap()
    };
    let perplexities = both(&["perplexity", "--json", "--stories", &stories], b"").map(|json| {
        assert_eq!(
            (number(&json, "stories"), number(&json, "tokens") > 12.0),
            (2.0, true),
            "{json}"
        );
        number(&json, "perplexity")
    });
    assert!((perplexities[0] / perplexities[1] - 1.0).abs() < 1e-3, "{perplexities:?}");
    // `score` reports the same perplexity for the same stories.
    folder
        .write("questions.jsonl", b"{\"kind\": \"name\", \"prompt\": \"a\", \"answer\": \"b\"}\n");
    let questions = folder.file("questions.jsonl");
    let args = ["score", "--json", "--model", &file, "--stories", &stories];
    let score = run(&[&args[..], &["--questions", &questions]].concat());
    assert_eq!(number(&score.succeeds("score").stdout, "perplexity"), perplexities[1]);
}

#[test]
fn perplexity_reads_a_text_in_stretches() {
    let model = Folder::model_with_tokenizer();
    model.write("text.txt", b"abcdefghijklmnopqrst");
    let text = model.file("text.txt");
    let perplexity = |more: &[&str]| {
        run(&[&["perplexity", "--model", model.name(), "--text", &text], more].concat())
    };
    // One stretch of `<s>` and 20 letters. With 10 tokens each: `<s>` and 9, 9 and 2 letters.
    assert!(
        perplexity(&[]).succeeds("the context").stdout.ends_with("over 1 stretch, 20 tokens\n")
    );
    assert!(
        perplexity(&["--stretch", "10"])
            .succeeds("10 tokens")
            .stdout
            .ends_with("over 3 stretches, 20 tokens\n")
    );
    assert!(
        perplexity(&["--stretch", "10", "--limit", "1"])
            .succeeds("--limit")
            .stdout
            .ends_with("over 1 stretch, 9 tokens\n")
    );
    perplexity(&["--stretch", "1"]).fails_in_one_line("no room", 1, &["--stretch", "found 1"]);
    model.write("text.txt", &b"abcdefghijklmnopqrst".repeat(2));
    perplexity(&["--stretch", "30"]).fails_in_one_line("longer than the context", 1, &["24"]);
    let absent = model.file("absent.txt");
    let refused = run(&["perplexity", "--text", &absent]);
    refused.fails_in_one_line("no text", 1, &[&absent, "cannot be read"]);
}
