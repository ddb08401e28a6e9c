//! Complete answers: their format, and that the request's fields reach the engine.

use serde_json::{Value, json};
use tiny_llm_cli::Form;

use crate::{
    client::{Connection, ask, get},
    engine::{settings, start},
};

fn content(answer: &Value, choice: usize) -> String {
    answer["choices"][choice]["message"]["content"].as_str().expect("text").to_owned()
}

#[test]
fn chat_answer_has_openais_format() {
    let server = start(&settings());
    let body = json!({
        "model": "any", "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": "c", "refusal": null, "annotations": []},
            {"role": "user", "content": "d"},
        ],
        "max_completion_tokens": 5, "n": 2, "seed": 7, "temperature": 1.5, "top_p": 0.5,
        "top_k": 9, "min_p": 0.25, "repetition_penalty": 1.25,
        "presence_penalty": -1.5, "frequency_penalty": 2, "stop": null, "user": "u",
        "response_format": {"type": "text"}, "tool_choice": "none", "logit_bias": {},
        "store": false, "service_tier": "auto", "stream": false,
    });
    let answer = ask(server.address, "/v1/chat/completions", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    let json = answer.json();
    assert_eq!(json["object"], "chat.completion");
    assert_eq!(json["model"], "letters");
    assert!(json["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")));
    assert!(json["created"].as_u64().is_some_and(|created| created > 1_700_000_000));
    for choice in 0..2 {
        let choice = &json["choices"][choice];
        assert_eq!(choice["message"]["role"], "assistant");
        assert_eq!(choice["finish_reason"], "length");
        assert_eq!(choice["logprobs"], Value::Null);
    }
    assert_eq!(content(&json, 0).len(), 5);
    assert_ne!(content(&json, 0), content(&json, 1), "each answer is sampled separately");
    let requests = server.knobs.seen().requests.clone();
    let tokens = requests[0].request.prompt.len();
    let usage = json!({
        "prompt_tokens": tokens, "prompt_tokens_details": {"cached_tokens": tokens - 1},
        "completion_tokens": 10, "total_tokens": tokens + 10,
    });
    assert_eq!(json["usage"], usage);
    for (i, request) in requests.iter().enumerate() {
        let sampling = &request.request.sampling;
        assert_eq!(request.request.seed, 7 + i as u64);
        assert_eq!((sampling.temperature, sampling.top_p, sampling.top_k), (1.5, 0.5, 9));
        assert_eq!((sampling.min_p, sampling.repetition_penalty), (0.25, 1.25));
        assert_eq!((request.extras.presence, request.extras.frequency), (-1.5, 2.0));
        assert_eq!(request.request.max_new_tokens, 5);
        assert_eq!(request.request.stop_tokens, [2]);
    }
    let written =
        ask(server.address, "/detokenize", &json!({"tokens": requests[0].request.prompt}));
    let text = "system:be brief\nuser:ab\nassistant:c\nuser:d\n";
    assert_eq!(written.json()["prompt"], text, "the template got other messages");
}

#[test]
fn a_negative_seed_is_reinterpreted_as_unsigned() {
    let server = start(&settings());
    let body = json!({"model": "m", "prompt": "a", "max_tokens": 1, "seed": -1});
    assert_eq!(ask(server.address, "/v1/completions", &body).status, 200);
    assert_eq!(server.knobs.seen().requests[0].request.seed, u64::MAX);
}

#[test]
fn tools_count_as_prompt_tokens() {
    let server = start(&settings());
    let mut body = json!({"messages": [{"role": "user", "content": "a"}]});
    let count = |body: &Value| ask(server.address, "/tokenize", body).json()["count"].as_u64();
    let without = count(&body).expect("a number of tokens");
    body["tools"] = json!([{"type": "function", "function": {"name": "look"}}]);
    let with = count(&body).expect("a number of tokens");
    body["model"] = json!("m");
    body["max_tokens"] = json!(1);
    let usage = ask(server.address, "/v1/chat/completions", &body).json()["usage"].clone();
    assert!(with > without, "{with} tokens with a tool, {without} without");
    assert_eq!(usage["prompt_tokens"], with);
}

#[test]
fn prompts_may_be_texts_or_token_ids() {
    let server = start(&settings());
    let of = |prompt: Value| {
        let body = json!({"model": "m", "prompt": prompt, "temperature": 0});
        let answer = ask(server.address, "/v1/completions", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let json = answer.json();
        assert_eq!(json["object"], "text_completion");
        let texts = json["choices"].as_array().expect("choices").iter();
        texts.map(|choice| choice["text"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let tokens = ask(server.address, "/tokenize", &json!({"prompt": "once"})).json();
    assert_eq!(tokens["count"], tokens["tokens"].as_array().expect("tokens").len());
    let tokens = &tokens["tokens"];
    let [once, upon] = [of(json!("once")), of(json!(["upon"]))];
    assert_eq!(once[0].len(), 16, "OpenAI's default");
    assert_ne!(once, upon);
    assert_eq!(of(tokens.clone()), once);
    assert_eq!(of(json!([tokens])), once);
    assert_eq!(of(json!(["once", "upon"])), [once.concat(), upon.concat()]);
}

#[test]
fn requests_without_a_seed_get_different_seeds() {
    let server = start(&settings());
    let text = |seed: Value| {
        let body = json!({"model": "m", "prompt": "a", "seed": seed, "max_tokens": 30});
        let answer = ask(server.address, "/v1/completions", &body).json();
        answer["choices"][0]["text"].as_str().expect("text").to_owned()
    };
    assert_eq!(text(json!(3)), text(json!(3)));
    assert_ne!(text(Value::Null), text(Value::Null));
}

#[test]
fn a_text_ends_before_a_stop_text() {
    let server = start(&settings());
    let text = |stop: Value| {
        let body =
            json!({"model": "m", "prompt": "a", "temperature": 0, "max_tokens": 40, "stop": stop});
        let answer = ask(server.address, "/v1/completions", &body).json();
        let choice = &answer["choices"][0];
        let text = choice["text"].as_str().expect("text").to_owned();
        (text, choice["finish_reason"].as_str().expect("a reason").to_owned())
    };
    let (whole, reason) = text(Value::Null);
    assert_eq!((whole.len(), reason.as_str()), (40, "length"));
    let (end, stop) = (whole.find(&whole[10..12]).expect("there"), &whole[10..12]);
    assert_eq!(text(json!(stop)), (whole[..end].to_owned(), "stop".to_owned()));
    assert_eq!(text(json!(["#", stop])), (whole[..end].to_owned(), "stop".to_owned()));
    assert_eq!(text(json!(["#"])), (whole, "length".to_owned()));
}

#[test]
fn returns_the_log_probabilities_of_each_token() {
    let server = start(&settings());
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "a"}], "max_tokens": 3,
        "logprobs": true, "top_logprobs": 2,
    });
    let answer = ask(server.address, "/v1/chat/completions", &body).json();
    let content = answer["choices"][0]["logprobs"]["content"].as_array().expect("tokens").clone();
    let text: String = content.iter().map(|token| token["token"].as_str().expect("text")).collect();
    assert_eq!(answer["choices"][0]["message"]["content"], text);
    assert_eq!(content.len(), 3);
    for token in &content {
        assert_eq!(token["logprob"], -0.5);
        assert_eq!(token["top_logprobs"][1]["token"], "b");
        assert_eq!(token["top_logprobs"][1]["logprob"], -2.5);
        assert_eq!(token["top_logprobs"][1]["bytes"], json!([98]));
        assert_eq!(token["top_logprobs"].as_array().expect("an array").len(), 2);
    }
    let body =
        json!({"model": "m", "prompt": "a", "max_tokens": 3, "logprobs": 1, "temperature": 0});
    let answer = ask(server.address, "/v1/completions", &body).json();
    let logprobs = &answer["choices"][0]["logprobs"];
    assert_eq!(logprobs["token_logprobs"], json!([-0.5, -0.5, -0.5]));
    assert_eq!(logprobs["text_offset"], json!([0, 1, 2]));
    let first = logprobs["tokens"][0].as_str().expect("text");
    assert_eq!(logprobs["top_logprobs"][0][first], -0.5, "the chosen token is always listed");
    assert_eq!(logprobs["top_logprobs"][0]["a"], -2.5);
}

#[test]
fn serves_the_model_list_the_health_check_and_the_page() {
    let server = start(&settings());
    let models = get(server.address, "/v1/models").json();
    assert_eq!(models["object"], "list");
    assert_eq!(models["data"][0]["id"], "letters");
    assert_eq!(models["data"][0]["object"], "model");
    assert_eq!(get(server.address, "/v1/models/letters").json(), models["data"][0]);
    for name in ["gpt", "%ff"] {
        let answer = get(server.address, &format!("/v1/models/{name}"));
        answer.is_error(404, Some("model"), Some("model_not_found"));
    }
    assert_eq!(get(server.address, "/health").json(), json!({"status": "ok"}));
    get(server.address, "/v1/engines").is_error(404, None, Some("not_found"));
    get(server.address, "/v1/completions").is_error(405, None, Some("method_not_allowed"));
    for (path, kind) in
        [("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript")]
    {
        let page = get(server.address, path);
        assert_eq!(page.status, 200, "{path}");
        assert!(page.header("content-type").is_some_and(|found| found.starts_with(kind)), "{path}");
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        // The page loads nothing from other servers.
        assert!(!page.body.contains("://"), "{path}");
    }
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = start(&settings());
    let mut connection = Connection::open(server.address);
    for n in 1..4 {
        connection
            .post("/v1/completions", &format!(r#"{{"model":"m","prompt":"a","max_tokens":{n}}}"#));
        assert_eq!(connection.answer().json()["usage"]["completion_tokens"], n);
    }
}

#[test]
fn response_format_reaches_the_engine() {
    let server = start(&settings());
    for form in ["text", "json_object", "json_object"] {
        let body = json!({
            "model": "m", "prompt": "a", "max_tokens": 2, "response_format": {"type": form},
        });
        assert_eq!(ask(server.address, "/v1/completions", &body).status, 200);
    }
    let seen = server.knobs.seen().clone();
    let forms: Vec<_> = seen.requests.iter().map(|request| request.form.clone()).collect();
    assert_eq!(forms, [None, Some(Form::Json), Some(Form::Json)]);
    assert_eq!(seen.vocabularies, [5], "the engine gets the vocabulary once, for the first form");
    let body = json!({
        "model": "m", "prompt": "a", "response_format": {"type": "json_object"}, "stop": "b",
    });
    ask(server.address, "/v1/completions", &body).is_error(400, Some("stop"), None);
}
