//! Sampling, log probabilities, penalties and JSON of the server's answers.

use tiny_llm_harness::fixtures::Json;

use crate::{client::Connection, program::Program};

fn ask(server: &Program, path: &str, body: &str) -> Json {
    let mut connection = Connection::open(server.address);
    connection.post(path, body);
    let answer = connection.answer();
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body.parse().expect("JSON")
}

fn number(json: &Json) -> f64 {
    json.to_string().parse().unwrap_or_else(|e| panic!("{e}: {json}"))
}

#[test]
fn answers_match_generate_and_chat_matches_completions() {
    let server = Program::start(&[]);
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 9, "temperature": 0}"#;
    let said = ask(&server, "/v1/chat/completions", body);
    let tokens = r#"{"messages": [{"role": "user", "content": "Hello"}]}"#;
    let tokens = ask(&server, "/tokenize", tokens)["tokens"].to_string();
    let body =
        format!(r#"{{"model": "m", "prompt": {tokens}, "max_tokens": 9, "temperature": 0}}"#);
    let continued = ask(&server, "/v1/completions", &body);
    assert_eq!(said["choices"][0]["message"]["content"], continued["choices"][0]["text"]);
    assert_eq!(said["usage"], continued["usage"]);
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story");
    let args = ["generate", "--model", model, "--week", "2", "-q", "-n", "9", "-p", "Once upon a"];
    let generated = std::process::Command::new(env!("CARGO_BIN_EXE_tiny-llm")).args(args).output();
    let generated = String::from_utf8(generated.expect("it runs").stdout).expect("text");
    let body = r#"{"model": "m", "prompt": "Once upon a", "max_tokens": 9, "temperature": 0}"#;
    let said = ask(&server, "/v1/completions", body);
    assert_eq!(generated.trim_end(), said["choices"][0]["text"].as_str().expect("text").trim_end());
}

#[test]
fn greedy_token_has_the_largest_log_probability() {
    let server = Program::start(&[]);
    let of = |temperature: &str| {
        let body = format!(
            r#"{{"model": "m", "prompt": "Once upon a time", "max_tokens": 8, "temperature": {temperature}, "seed": 1, "logprobs": 5}}"#
        );
        let choice = ask(&server, "/v1/completions", &body)["choices"][0].clone();
        (choice["logprobs"].clone(), choice["text"].as_str().expect("text").to_owned())
    };
    let (logprobs, answered) = of("0");
    for i in 0..8 {
        let own = number(&logprobs["token_logprobs"][i]);
        let top = logprobs["top_logprobs"][i].as_object().expect("an object");
        let sum: f64 = top.values().map(|x| number(x).exp()).sum();
        assert!(own <= 0.0 && sum <= 1.0 + 1e-5, "{logprobs}");
        assert!(top.values().all(|x| number(x) <= own), "token {i} of {logprobs}");
    }
    let text: String = (0..8).map(|i| logprobs["tokens"][i].as_str().expect("text")).collect();
    assert_eq!(text, answered, "the tokens are the text's");
    // Log probabilities are the model's own. They do not depend on the temperature.
    let (warm, _) = of("2");
    let (first, own) = (&warm["top_logprobs"][0], &logprobs["top_logprobs"][0]);
    for (token, logprob) in own.as_object().expect("an object") {
        assert_eq!(first[token], *logprob, "{token:?}");
    }
}

#[test]
fn penalties_reduce_repeated_tokens() {
    let server = Program::start(&[]);
    let repeated = |penalties: &str| {
        let body = format!(
            r#"{{"model": "m", "prompt": "Once upon a time", "max_tokens": 60, "temperature": 0, "logprobs": 0 {penalties}}}"#
        );
        let answer = ask(&server, "/v1/completions", &body);
        let tokens = answer["choices"][0]["logprobs"]["tokens"].as_array().expect("tokens").clone();
        let mut different: Vec<String> = tokens.iter().map(ToString::to_string).collect();
        different.sort();
        different.dedup();
        tokens.len() - different.len()
    };
    let (none, presence) = (repeated(""), repeated(r#", "presence_penalty": 2"#));
    let frequency = repeated(r#", "frequency_penalty": 2"#);
    assert!(presence < none && frequency < none, "{none} repeated, {presence}, {frequency}");
    assert!(repeated(r#", "presence_penalty": -2"#) >= none);
}

#[test]
fn json_mode_returns_an_object_for_any_seed() {
    let server = Program::start(&[]);
    for seed in 0..6 {
        let tokens = 8 + 10 * seed;
        let body = format!(
            r#"{{"model": "m", "messages": [{{"role": "user", "content": "Hello"}}], "max_tokens": {tokens}, "temperature": 2, "seed": {seed}, "logprobs": true, "top_logprobs": 3, "presence_penalty": 1, "response_format": {{"type": "json_object"}}}}"#
        );
        let answer = ask(&server, "/v1/chat/completions", &body);
        let text = answer["choices"][0]["message"]["content"].as_str().expect("text");
        let object: Json = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
        assert!(object.is_object(), "{text}");
    }
    let mut connection = Connection::open(server.address);
    let body = r#"{"model": "m", "prompt": "a", "max_tokens": 1, "response_format": {"type": "json_object"}}"#;
    connection.post("/v1/completions", body);
    let refused = connection.answer();
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("token"), "{refused:?}");
}
