//! `--json`, `--schema` and `response_format`: answers parse and fit the schema.

use std::fs;

use tiny_llm_harness::fixtures::Json;

use crate::{
    folder::{DRAFT, Folder},
    process::{Run, run},
};

fn story(more: &[&str]) -> Run {
    let mut args = vec!["generate", "-p", "Lily had a cat. Lily said:", "-j", "1", "--json"];
    args.extend(more);
    run(&args)
}

fn object(text: &str) -> Json {
    let value: Json = text.parse().unwrap_or_else(|e| panic!("{text:?} is no JSON: {e}"));
    assert!(value.is_object(), "{text:?} is no object");
    value
}

#[test]
fn any_token_limit_gives_an_object() {
    for n in ["2", "3", "4", "7", "30"] {
        for more in [&["--temperature", "0"][..], &["--temperature", "1.5", "--seed", n]] {
            let said = story(&[&["-n", n], more].concat()).succeeds(&format!("-n {n} {more:?}"));
            object(&said.stdout);
        }
    }
    let cached = story(&["-n", "9"]).succeeds("with a cache").stdout;
    let without = story(&["-n", "9", "--no-cache"]).succeeds("without a cache").stdout;
    assert_eq!(cached, without, "with and without the cache");
}

#[test]
fn impossible_options_are_rejected_in_one_line() {
    story(&["-n", "1"]).fails_in_one_line("one token", 1, &["a limit of 1", "at least 2", "{}"]);
    story(&["-n", "9", "--draft", "lookup"]).fails_in_one_line("drafts", 2, &["--draft", "--json"]);
    story(&["-n", "9", "--week", "1"]).fails_in_one_line("week 1", 2, &["--week 1", "--json"]);
}

#[test]
fn each_line_of_a_batch_has_its_own_format() {
    let files = Folder::empty();
    let (requests, out) = (files.file("requests.jsonl"), files.file("answers.jsonl"));
    let form = |name: &str| format!(r#""response_format": {{"type": "{name}"}}"#);
    let schema = |schema: &str| {
        let inner = format!(r#"{{"name": "n", "schema": {}}}"#, schema.replace('\n', " "));
        format!(r#""response_format": {{"type": "json_schema", "json_schema": {inner}}}"#)
    };
    let lines = [
        format!(r#"{{"prompt": "Lily had a", "max_tokens": 9, {}}}"#, form("json_object")),
        format!(r#"{{"prompt": "Lily had a", "max_tokens": 9, {}}}"#, form("text")),
        r#"{"prompt": "Lily had a", "max_tokens": 9}"#.to_owned(),
        format!(r#"{{"prompt": "Lily had a", "max_tokens": 1, {}}}"#, form("json_object")),
        format!(r#"{{"prompt": "Lily", "stop": "}}", {}}}"#, form("json_object")),
        format!(r#"{{"prompt": "Lily", {}}}"#, form("json_schema")),
        format!(r#"{{"prompt": "Lily", {}}}"#, form("yaml")),
        r#"{"prompt": "Lily", "response_format": "json_object"}"#.to_owned(),
        format!(r#"{{"prompt": "Lily", "max_tokens": 40, {}}}"#, schema(SCHEMA)),
        format!(r#"{{"prompt": "Lily", {}}}"#, schema(r#"{"items": {"not": {}}}"#)),
    ];
    let answers = |more: &[&str]| -> Vec<Json> {
        fs::write(&requests, lines.join("\n")).expect("a file");
        let _ = fs::remove_file(&out);
        let mut args = vec!["batch", &requests, "--out", &out, "-q", "-j", "1"];
        args.extend(more);
        run(&args);
        let text = fs::read_to_string(&out).expect("answers");
        text.lines().map(|line| line.parse().expect("JSON")).collect()
    };
    let text = |answer: &Json| answer["text"].as_str().map(str::to_owned).expect("a text");
    let plain = answers(&[]);
    object(&text(&plain[0]));
    assert_eq!(plain[0]["finish_reason"], "length", "the budget closed it");
    assert_eq!(text(&plain[1]), text(&plain[2]), "text is what comes without a form");
    for (i, words) in [
        (3, &["a limit of 1", "at least 2"][..]),
        (4, &["stop text"]),
        (5, &["response_format", "json_schema"]),
        (6, &["response_format", "yaml", "json_object"]),
        (9, &["response_format", "/items/not"]),
        (7, &["response_format", "an object"]),
    ] {
        let message = plain[i]["error"]["message"].as_str().unwrap_or_default();
        assert!(words.iter().all(|word| message.contains(word)), "line {}: {message:?}", i + 1);
    }
    fits(&text(&plain[8]));
    let all = answers(&["--json", "--max-batch", "2"]);
    assert_eq!(text(&all[0]), text(&plain[0]), "in another company");
    assert_eq!(text(&all[2]), text(&plain[0]), "--json is for lines that say nothing");
    assert_eq!(text(&all[1]), text(&plain[1]), "a line may ask for text all the same");
}

/// With any drafts, `batch` writes the same bytes, and every JSON answer parses.
#[test]
fn drafts_change_no_json_answer() {
    let files = Folder::empty();
    let (requests, out) = (files.file("requests.jsonl"), files.file("answers.jsonl"));
    let form = r#""response_format": {"type": "json_object"}"#;
    let mut lines = Vec::new();
    for i in 0..6 {
        let own = ["Lily had a", "Tom saw a cat. Tom saw a"][i % 2];
        let n = 12 + 9 * i;
        let drawn =
            if i < 3 { String::new() } else { format!(r#", "temperature": 1, "seed": {i}"#) };
        lines.push(format!(r#"{{"prompt": "{own}", "max_tokens": {n}, {form}{drawn}}}"#));
        lines.push(format!(r#"{{"prompt": "{own}", "max_tokens": {n}{drawn}}}"#));
    }
    fs::write(&requests, lines.join("\n")).expect("a file");
    let answers = |more: &[&str]| {
        let _ = fs::remove_file(&out);
        let args = ["batch", &requests, "--out", &out, "-j", "1", "--max-batch", "4"];
        let said = run(&[&args[..], more].concat()).succeeds(&format!("{more:?}"));
        (fs::read_to_string(&out).expect("answers"), said.stderr)
    };
    let (expected, _) = answers(&[]);
    for (i, line) in expected.lines().enumerate().step_by(2) {
        let answer: Json = line.parse().expect("JSON");
        object(answer["text"].as_str().unwrap_or_else(|| panic!("line {i}: {line}")));
    }
    for draft in ["lookup", DRAFT] {
        for more in [&[][..], &["--budget", "7"], &["--pages", "6", "--share-prefixes"]] {
            let options = [&["--draft", draft][..], more].concat();
            let (found, said) = answers(&options);
            assert_eq!(found, expected, "{options:?}");
            assert!(said.contains("drafts "), "{options:?}: {said}");
        }
    }
}

/// A schema whose properties are not in alphabetical order.
const SCHEMA: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string", "minLength": 1, "maxLength": 9},
    "age": {"type": "integer", "minimum": 3, "maximum": 12}, "home": {"enum": ["cave", "tree"]}},
    "required": ["name", "home"], "additionalProperties": false}"#;

/// Checks that a text is an object that fits the schema.
#[track_caller]
fn fits(text: &str) {
    let value = object(text);
    let fields = value.as_object().expect("an object");
    let known = |name: &String| ["name", "age", "home"].contains(&name.as_str());
    assert!(fields.keys().all(known), "{text}");
    let name = value["name"].as_str().expect("a name").chars().count();
    assert!((1..=9).contains(&name), "{text}");
    assert!(value["home"] == "cave" || value["home"] == "tree", "{text}");
    assert!(
        value["age"].is_null() || (3..=12).contains(&value["age"].as_u64().expect("an age")),
        "{text}"
    );
    assert!(text.find("\"name\"") < text.find("\"home\""), "{text}: the schema's order");
}

#[test]
fn any_sufficient_token_limit_gives_an_answer_that_fits() {
    let files = Folder::empty();
    let path = files.file("schema.json");
    fs::write(&path, SCHEMA).expect("a file");
    let story = |more: &[&str]| {
        let mut args = vec!["generate", "-p", "Lily had a cat.", "-j", "1", "--schema", &path];
        args.extend(more);
        run(&args)
    };
    for n in ["24", "25", "27", "32", "60"] {
        for more in [&["--temperature", "0"][..], &["--temperature", "1.5", "--seed", n]] {
            let said = story(&[&["-n", n], more].concat()).succeeds(&format!("-n {n} {more:?}"));
            fits(&said.stdout);
        }
    }
    story(&["-n", "3"]).fails_in_one_line("too few", 1, &["a limit of 3", "name", "home"]);
    story(&["-n", "40", "--json"]).fails_in_one_line("both", 2, &["--json", "--schema"]);
    story(&["-n", "40", "--week", "1"]).fails_in_one_line("week 1", 2, &["--schema"]);
    fs::write(&path, r#"{"properties": {"a/b": {"if": true}}}"#).expect("a file");
    let words = ["schema.json", "/properties/a~1b/if", "\"if\"", "not supported"];
    story(&["-n", "40"]).fails_in_one_line("a keyword", 1, &words);
    fs::write(&path, "{").expect("a file");
    story(&["-n", "40"]).fails_in_one_line("no JSON", 1, &["schema.json", "not JSON"]);
    fs::remove_file(&path).expect("a file");
    story(&["-n", "40"]).fails_in_one_line("no file", 1, &["schema.json", "cannot be read"]);
}
