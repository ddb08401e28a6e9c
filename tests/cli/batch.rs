//! The command `batch`: good and bad requests, complete and interrupted runs.

use std::{fs, time::Duration};

use tiny_llm_harness::fixtures::Json;

use crate::{
    folder::{CONTEXT, Folder},
    process::{Run, command, finished, run, run_with_input},
};

/// A model with a tokenizer, and a folder for the files of requests and answers.
struct Place {
    model: Folder,
    files: Folder,
}

impl Place {
    fn new(requests: &str) -> Self {
        let place = Self { model: Folder::model_with_tokenizer(), files: Folder::empty() };
        place.files.write("requests.jsonl", requests.as_bytes());
        place
    }

    fn args<'a>(&'a self, names: &'a [String; 2], more: &[&'a str]) -> Vec<&'a str> {
        let [requests, out] = names;
        [&["batch", requests, "--model", self.model.name(), "--out", out], more].concat()
    }

    fn names(&self) -> [String; 2] {
        ["requests.jsonl", "answers.jsonl"].map(|name| self.files.file(name))
    }

    fn batch(&self, more: &[&str]) -> Run {
        run(&self.args(&self.names(), more))
    }

    fn text(&self) -> String {
        fs::read_to_string(self.files.file("answers.jsonl")).expect("answers")
    }

    /// Returns all answers in the file. Checks that every line is complete and in order.
    fn answers(&self) -> Vec<Json> {
        let text = self.text();
        assert!(text.is_empty() || text.ends_with('\n'), "{text:?}");
        let lines = text.lines().map(|line| line.parse().expect("an answer"));
        let answers: Vec<Json> = lines.collect();
        for (i, answer) in answers.iter().enumerate() {
            assert_eq!(answer["index"], i, "{text}");
        }
        answers
    }
}

/// Returns the text that the command `generate` prints for `prompt`.
fn generated(model: &Folder, prompt: &str, more: &[&str]) -> String {
    let args = ["generate", "--model", model.name(), "--week", "2", "-q", "-p", prompt];
    let said = run(&[&args[..], more].concat()).succeeds("generate");
    said.stdout.strip_suffix('\n').expect("a line").to_owned()
}

#[test]
fn answers_match_generate_in_any_batch() {
    let mut requests = String::new();
    for (i, prompt) in ["abc", "T", "hello", "abc", "zz"].iter().enumerate() {
        let n = [6, 3, 9, 1, 5][i];
        requests += &format!("{{\"prompt\": \"{prompt}\", \"max_tokens\": {n}}}\n");
    }
    requests += "{\"prompt\": \"abc\", \"max_tokens\": 8, \"temperature\": 2, \"seed\": 3}";
    let place = Place::new(&requests);
    let mut texts = Vec::new();
    for (max_batch, budget) in [("1", "0"), ("2", "0"), ("16", "0"), ("16", "5"), ("3", "2")] {
        let _ = fs::remove_file(place.files.file("answers.jsonl"));
        let options = ["--max-batch", max_batch, "--budget", budget, "-j", "2"];
        place.batch(&options).succeeds(max_batch);
        texts.push(place.text());
        assert_eq!(texts[0], texts[texts.len() - 1], "{options:?}");
    }
    // With pages for one and a half requests, one is preempted, and gets the same text.
    let _ = fs::remove_file(place.files.file("answers.jsonl"));
    let said = place.batch(&["--pages", "2"]).succeeds("two pages");
    assert!(said.stderr.contains("at most 2 of 2 in use"), "{}", said.stderr);
    assert_eq!(texts[0], place.text());
    let answers = place.answers();
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[0]["text"], generated(&place.model, "abc", &["-n", "6"]));
    assert_eq!(answers[2]["text"], generated(&place.model, "hello", &["-n", "9"]));
    let sampled = generated(&place.model, "abc", &["-n", "8", "--temperature", "2", "--seed", "3"]);
    assert_eq!(answers[5]["text"], sampled);
    assert_eq!(answers[0]["finish_reason"], "length");
    // <s> and three letters.
    let usage: Json =
        r#"{"prompt_tokens": 4, "completion_tokens": 6, "total_tokens": 10}"#.parse().unwrap();
    assert_eq!(answers[0]["usage"], usage);
    assert!(
        place.text().starts_with("{\"index\":0,\"text\":"),
        "the index first: {}",
        place.text()
    );
}

#[test]
fn messages_are_answered_like_chat() {
    let place = Place::new(r#"{"messages": [{"role": "user", "content": "hey"}]}"#);
    place.batch(&[]).succeeds("messages");
    let answer = place.answers().remove(0);
    // ChatML around three letters leaves two positions in this context.
    assert_eq!(answer["usage"]["prompt_tokens"], 22, "{answer}");
    assert_eq!(answer["usage"]["completion_tokens"], 2, "{answer}");
    let said = run_with_input(&["chat", "--model", place.model.name(), "-q"], b"hey\n");
    assert_eq!(said.succeeds("chat").stdout.trim_end_matches('\n'), answer["text"]);
}

/// The stop text is the fourth letter of the answer, and is not part of the returned text. A stop
/// text that does not occur has no effect.
#[test]
fn a_stop_text_ends_an_answer() {
    let whole = generated(&Folder::model_with_tokenizer(), "abc", &["-n", "9"]);
    let letter = whole.chars().nth(3).expect("nine letters").to_string();
    let at = whole.find(&letter).expect("it is there");
    let stop = Json::from(letter).to_string();
    for stop in [stop.clone(), format!("[\"not there\", {stop}]")] {
        let place = Place::new(&format!("{{\"prompt\": \"abc\", \"stop\": {stop}}}"));
        place.batch(&["-n", "9"]).succeeds("stop");
        let answer = place.answers().remove(0);
        assert_eq!(answer["text"], whole[..at], "{stop}: {answer}");
        assert_eq!(answer["finish_reason"], "stop", "{stop}");
    }
}

#[test]
fn a_bad_line_is_named_and_the_others_are_served() {
    let good = r#"{"prompt": "abc", "max_tokens": 2}"#;
    let long = format!(r#"{{"prompt": "{}"}}"#, "a".repeat(CONTEXT));
    let bad: [(&str, &[&str]); 23] = [
        ("{\"prompt\": \"abc\"", &["not JSON"]),
        ("nonsense", &["not JSON"]),
        ("[1]", &["found an array", "JSON object"]),
        ("null", &["found null", "JSON object"]),
        (r#"{"prompt": "a", "max_token": 3}"#, &["\"max_token\"", "max_tokens"]),
        (r#"{"prompt": "a", "n": 2}"#, &["\"n\""]),
        (r#"{"prompt": ""}"#, &["\"prompt\"", "empty"]),
        (r#"{"prompt": 3}"#, &["\"prompt\"", "found 3", "a string"]),
        (r#"{"max_tokens": 3}"#, &["neither", "\"messages\""]),
        (r#"{"prompt": "a", "messages": []}"#, &["both"]),
        (r#"{"messages": []}"#, &["\"messages\"", "at least one"]),
        (r#"{"messages": [{"role": "user"}]}"#, &["\"messages\"[0]", "\"content\""]),
        (r#"{"messages": [{"role": "god", "content": "a"}]}"#, &["\"god\"", "assistant"]),
        (r#"{"messages": ["a"]}"#, &["\"messages\"[0]", "an object"]),
        (r#"{"prompt": "a", "max_tokens": -1}"#, &["\"max_tokens\"", "found -1"]),
        (r#"{"prompt": "a", "max_tokens": 1.5}"#, &["\"max_tokens\"", "found 1.5"]),
        (r#"{"prompt": "a", "temperature": -0.5}"#, &["temperature", "-0.5"]),
        (r#"{"prompt": "a", "temperature": "hot"}"#, &["\"temperature\"", "a number"]),
        (r#"{"prompt": "a", "temperature": 1e99}"#, &["temperature", "inf"]),
        (r#"{"prompt": "a", "top_p": 0}"#, &["top_p", "above 0"]),
        (r#"{"prompt": "a", "stop": [""]}"#, &["\"stop\"", "empty"]),
        (r#"{"prompt": "a", "seed": "x"}"#, &["\"seed\"", "whole number"]),
        (&long, &["25 tokens", "holds 24"]),
    ];
    let mut requests = format!("{good}\n\n");
    for (line, _) in bad {
        requests += &format!("{line}\n{good}\n");
    }
    let place = Place::new(&requests);
    let said = place.batch(&["-q"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.stderr);
    assert_eq!(said.stderr.lines().count(), bad.len(), "{}", said.stderr);
    let answers = place.answers();
    assert_eq!(answers.len(), 2 * bad.len() + 1);
    for (i, (line, words)) in bad.iter().enumerate() {
        // A good line and an empty one come before the first bad one.
        let (index, number) = (2 * i + 1, 2 * i + 3);
        let place = format!("requests.jsonl:{number}: ");
        let found = said.stderr.lines().find(|line| line.contains(&place));
        let found = found.unwrap_or_else(|| panic!("no {place} in {}", said.stderr));
        let message = answers[index]["error"]["message"].as_str().expect("an error");
        for word in *words {
            assert!(found.contains(word) && message.contains(word), "{line}: {word:?} in {found}");
        }
        assert_eq!(answers[index - 1]["text"], answers[0]["text"], "the good one before {line}");
    }
}

#[test]
fn a_line_of_invalid_utf8_is_one_bad_line() {
    let place = Place::new("");
    place.files.write(
        "requests.jsonl",
        b"{\"prompt\": \"a\"}\n{\"prompt\": \"\xff\"}\r\n{\"prompt\": \"a\"}\r\n",
    );
    let said = place.batch(&["-q", "-n", "2"]);
    said.fails_in_one_line("a byte that is none", 1, &["requests.jsonl:2: not JSON"]);
    let answers = place.answers();
    assert_eq!(answers[0]["text"], answers[2]["text"]);
}

#[test]
fn startup_errors_are_one_line() {
    let place = Place::new("{\"prompt\": \"a\"}\n");
    let [requests, out] = place.names();
    let nowhere = place.files.file("nowhere.jsonl");
    let model = ["--model", place.model.name()];
    let batch = |args: &[&str]| run(&[&["batch"], args, &model].concat());
    let said = batch(&[&nowhere, "--out", &out]);
    said.fails_in_one_line("no such file", 1, &["nowhere.jsonl: cannot be read"]);
    assert!(!fs::exists(&out).unwrap(), "no answers to nothing");
    place.files.write("empty.jsonl", b"\n \n");
    let refused = batch(&[&place.files.file("empty.jsonl"), "--out", &out]);
    refused.fails_in_one_line("an empty file", 1, &["empty.jsonl", "found no JSON"]);
    for (args, words) in [
        (&["--max-batch", "0"][..], &["--max-batch", "from 1 to 256"][..]),
        (&["--budget", "1"], &["--budget", "at least 2"]),
        (&["--week", "1"], &["--week 1", "one text at a time"]),
        (&["--no-cache"], &["--no-cache"]),
    ] {
        let said = batch(&[&[requests.as_str(), "--out", &out], args].concat());
        said.fails_in_one_line(&args.join(" "), 2, words);
    }
    // A file of requests is not a file of answers, so it is not changed.
    let said = batch(&[&requests, "--out", &requests]);
    said.fails_in_one_line("onto itself", 1, &["requests.jsonl:1", "answer with \"index\": 0"]);
    assert_eq!(fs::read_to_string(&requests).unwrap(), "{\"prompt\": \"a\"}\n");
    for (file, line) in [("{\"index\":0,\"text\":\"\"}\n{\"index\":5}\n", ":2"), ("notes", ":1")] {
        place.files.write("answers.jsonl", file.as_bytes());
        let said = place.batch(&[]);
        said.fails_in_one_line(file, 1, &[&format!("answers.jsonl{line}"), "remove the file"]);
        assert_eq!(place.text(), file);
    }
    place.files.write("answers.jsonl", b"{\"index\":0}\n{\"index\":1}\n");
    place.batch(&[]).fails_in_one_line("of another file", 1, &["2 answers", "at most 1"]);
}

#[test]
fn a_run_resumes_an_incomplete_file() {
    let lines: Vec<_> =
        (1..7).map(|n| format!("{{\"prompt\": \"{}\"}}\n", "ab".repeat(n))).collect();
    let place = Place::new(&lines.concat());
    place.batch(&["-n", "5", "--temperature", "1"]).succeeds("all at once");
    let whole = place.text();
    // Cut between two lines, inside a line, in the first bytes, and before everything.
    let third: usize = whole.split_inclusive('\n').take(3).map(str::len).sum();
    for cut in [third, third - 1, third + 1, third + 20, 4, 0] {
        place.files.write("answers.jsonl", &whole.as_bytes()[..cut]);
        let said = place.batch(&["-n", "5", "--temperature", "1"]).succeeds("the rest");
        assert_eq!(place.text(), whole, "cut at {cut}");
        let repaired = said.stderr.contains("of an incomplete answer");
        assert_eq!(repaired, ![third, 0].contains(&cut), "cut at {cut}: {}", said.stderr);
    }
    let again = place.batch(&[]).succeeds("nothing left");
    assert!(again.stderr.contains("found answers for 6 of 6 requests"), "{}", again.stderr);
    assert_eq!(place.text(), whole);
}

/// Each killed run leaves a file that is the beginning of the complete one. After the last run, the
/// file is what one uninterrupted run writes.
#[test]
fn a_batch_survives_twenty_kills() {
    let requests: String =
        (0..40).map(|i| format!("{{\"prompt\": \"{}\"}}\n", "abcd".repeat(1 + i % 4))).collect();
    let place = Place::new(&requests);
    place.batch(&["--max-batch", "3"]).succeeds("all at once");
    let whole = place.text();
    fs::remove_file(place.files.file("answers.jsonl")).unwrap();
    let (names, mut milliseconds) = (place.names(), 30);
    for _ in 0..20 {
        let mut child = command(&place.args(&names, &["--max-batch", "3"])).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        milliseconds = (milliseconds * 7 + 13) % 240;
        child.kill().unwrap();
        finished(child.wait_with_output().unwrap());
        let so_far = fs::read_to_string(&names[1]).unwrap_or_default();
        assert!(whole.starts_with(&so_far), "{so_far}");
    }
    place.batch(&["--max-batch", "3"]).succeeds("the rest");
    assert_eq!(place.text(), whole);
}

#[test]
fn rejects_a_file_that_another_run_writes() {
    let place = Place::new("{\"prompt\": \"a\"}\n");
    let held = fs::File::create(place.files.file("answers.jsonl")).unwrap();
    held.lock().unwrap();
    place.batch(&[]).fails_in_one_line("a second run", 1, &["answers.jsonl", "another run"]);
}

#[test]
fn infinite_weights_end_the_batch() {
    let place = Place::new("{\"prompt\": \"ab\"}\n{\"prompt\": \"cd\"}\n");
    place.model.edit_weights(|bytes| {
        let at = bytes.len() - 2;
        bytes[at..].copy_from_slice(&[0x80, 0x7f]);
    });
    let words = ["tensor lm_head.weight", "found NaN or infinity"];
    place.batch(&[]).fails_in_one_line("an infinity", 1, &words);
    assert_eq!(place.text(), "");
}

/// The chapter on chunked prefill shows these numbers for `models/eval/mixed.jsonl`. They depend
/// only on the lengths of prompts and answers, so a tiny model gives the same numbers.
#[test]
fn a_budget_shortens_the_longest_gap() {
    let mut requests = String::new();
    // Tokens of each prompt, including <s>, and new tokens.
    for (prompt, new) in [(6, 20), (6, 64), (7, 64), (6, 64), (409, 16), (7, 48), (7, 64), (7, 64)]
    {
        let letters = "abcdefg".repeat(60);
        requests +=
            &format!("{{\"prompt\": \"{}\", \"max_tokens\": {new}}}\n", &letters[..prompt - 1]);
    }
    let place = Place::new(&requests);
    let context = format!("\"max_position_embeddings\": {CONTEXT}");
    place.model.edit_config(&context, "\"max_position_embeddings\": 512");
    let answers = |budget: &str, waits: &str| {
        let _ = fs::remove_file(place.files.file("answers.jsonl"));
        let said = place.batch(&["--max-batch", "4", "--budget", budget]).succeeds(budget);
        assert!(said.stderr.contains(waits), "{budget}: expected {waits:?} in {}", said.stderr);
        place.text()
    };
    let whole = answers("0", "25 (p99 706) rows; longest gap 4 (p99 412) rows");
    assert_eq!(answers("128", "25 (p99 703) rows; longest gap 4 (p99 128) rows"), whole);
    assert_eq!(answers("32", "25 (p99 692) rows; longest gap 4 (p99 32) rows"), whole);
    assert_eq!(answers("8", "31 (p99 669) rows; longest gap 8 (p99 8) rows"), whole);
}

#[test]
fn a_summary_counts_the_work() {
    let place = Place::new("{\"prompt\": \"abc\"}\n{\"prompt\": \"d\"}\n");
    let said = place.batch(&["-n", "3", "--watch"]).succeeds("a summary");
    // One step for prompts of 4 and 2 tokens (with <s>), then two steps of two rows.
    for part in [
        "engine   ",
        "6 prompt tokens and 6 new ones",
        "3 steps of 3.3 rows",
        "first token after 1 (p99 1) steps, 6 (p99 6) rows; longest gap 2 (p99 2) rows",
    ] {
        assert!(said.stderr.contains(part), "expected {part:?} in {}", said.stderr);
    }
    assert_eq!(said.stdout, "");
}
