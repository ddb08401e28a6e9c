//! Unsupported fields are refused by name, with an error in OpenAI's format. No field is ignored.

use serde_json::{Value, json};

use crate::{
    client::{Connection, ask, get, post, with},
    engine::{settings, start},
};

#[test]
fn rejects_unsupported_fields_by_name() {
    let server = start(&settings());
    let chat =
        json!({"model": "m", "messages": [{"role": "user", "content": "a"}], "max_tokens": 1});
    let text = json!({"model": "m", "prompt": "a", "max_tokens": 1});
    let (chats, texts) = ("/v1/chat/completions", "/v1/completions");
    for (path, base, name, value) in [
        (chats, &chat, "response_format", json!({"type": "json_object", "strict": true})),
        (chats, &chat, "response_format", json!({"type": "grammar"})),
        (chats, &chat, "response_format", json!({"type": "text", "more": 1})),
        (texts, &text, "tools", json!([{"type": "function", "function": {"name": "f"}}])),
        (chats, &chat, "functions", json!([])),
        (chats, &chat, "function_call", json!("none")),
        (chats, &chat, "logit_bias", json!({"5": 1})),
        (chats, &chat, "audio", json!({})),
        (chats, &chat, "modalities", json!(["text", "audio"])),
        (chats, &chat, "prediction", json!({})),
        (chats, &chat, "reasoning_effort", json!("low")),
        (chats, &chat, "verbosity", json!("low")),
        (chats, &chat, "service_tier", json!("flex")),
        (chats, &chat, "store", json!(true)),
        (chats, &chat, "metadata", json!({"a": "b"})),
        (chats, &chat, "web_search_options", json!({})),
        (chats, &chat, "prompt_cache_key", json!("k")),
        (chats, &chat, "safety_identifier", json!("k")),
        (texts, &text, "best_of", json!(2)),
        (texts, &text, "echo", json!(true)),
        (texts, &text, "suffix", json!("b")),
    ] {
        let answer = ask(server.address, path, &with(base, &json!({ name: value })));
        answer.is_error(400, Some(name), Some("unsupported_parameter"));
    }
    for (path, base, name) in [
        (chats, &chat, "colour"),
        (chats, &chat, "prompt"),
        (texts, &text, "messages"),
        (texts, &text, "max_completion_tokens"),
        (texts, &text, "top_logprobs"),
        (texts, &text, "Temperature"),
    ] {
        let answer = ask(server.address, path, &with(base, &json!({ name: 1 })));
        answer.is_error(400, Some(name), Some("unknown_parameter"));
    }
    assert!(server.knobs.seen().requests.is_empty(), "none reaches the engine");
}

#[test]
fn rejects_invalid_values_by_field_name() {
    let server = start(&settings());
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "a"}]});
    for (name, values) in [
        ("n", json!([0, 4, -1, 1.5, "1", true, u64::MAX])),
        ("max_tokens", json!([0, -1, 2.5, "5", {}])),
        ("max_completion_tokens", json!([0, "5"])),
        ("temperature", json!([-0.1, 2.1, "0", [], true])),
        ("top_p", json!([0, -1, 1.01, 1e-60, "1"])),
        ("top_k", json!([-1, 0.5, "3"])),
        ("min_p", json!([-0.1, 1.1])),
        ("repetition_penalty", json!([0, -1, 1e60])),
        ("presence_penalty", json!([-2.1, 2.1, "0"])),
        ("frequency_penalty", json!([-2.1, 2.1, "0"])),
        ("seed", json!([0.5, "3", 1e30])),
        ("stop", json!([5, {}, "", [""], ["a", 5], ["a", "b", "c", "d", "e"], "x".repeat(300)])),
        ("stream", json!([1, "true"])),
        ("stream_options", json!([{"include_usage": true}])),
        ("logprobs", json!([1, "true"])),
        ("top_logprobs", json!([3])),
        ("user", json!([5, "u".repeat(65)])),
        ("model", json!([5, null])),
        ("messages", json!([5, [], "a", {}, null])),
    ] {
        for value in values.as_array().expect("values") {
            let body = with(&chat, &json!({ name: value }));
            let answer = ask(server.address, "/v1/chat/completions", &body);
            answer.is_error(400, Some(name), None);
        }
    }
    let both = with(&chat, &json!({"max_tokens": 1, "max_completion_tokens": 1}));
    ask(server.address, "/v1/chat/completions", &both).is_error(400, Some("max_tokens"), None);
    for top in [21, -1] {
        let body = with(&chat, &json!({"logprobs": true, "top_logprobs": top}));
        let answer = ask(server.address, "/v1/chat/completions", &body);
        answer.is_error(400, Some("top_logprobs"), None);
    }
    for (options, name) in [
        (json!({"include_usage": 1}), "stream_options.include_usage"),
        (json!({"include_obfuscation": true}), "stream_options.include_obfuscation"),
        (json!({"more": 1}), "stream_options.more"),
        (json!(5), "stream_options"),
    ] {
        let body = with(&chat, &json!({"stream": true, "stream_options": options}));
        let answer = ask(server.address, "/v1/chat/completions", &body).json();
        assert_eq!(answer["error"]["param"], name, "{answer}");
    }
    for prompt in [
        json!(5),
        json!([]),
        json!([[]]),
        json!([1, "a"]),
        json!([-1]),
        json!([5e9]),
        json!([999_999]),
        json!({}),
        json!([{}]),
        json!(["a", 5]),
        json!(["a", "b", "c", "d"]),
        Value::Null,
        json!(""),
    ] {
        let answer =
            ask(server.address, "/v1/completions", &json!({"model": "m", "prompt": prompt}));
        let code = answer.json()["error"]["code"].as_str().map(str::to_owned);
        answer.is_error(400, Some("prompt"), code.as_deref());
    }
}

#[test]
fn rejects_an_invalid_message_by_its_index() {
    let server = start(&settings());
    for (message, param) in [
        (json!(5), "messages[1]"),
        (json!({"content": "a"}), "messages[1].role"),
        (json!({"role": "user"}), "messages[1].content"),
        (json!({"role": "user", "content": null}), "messages[1].content"),
        (json!({"role": "king", "content": "a"}), "messages[1].role"),
        (json!({"role": "function", "content": "a"}), "messages[1].role"),
        (json!({"role": "tool", "content": "a"}), "messages[1].tool_call_id"),
        (json!({"role": "tool", "content": "a", "tool_call_id": "b"}), "messages[1].tool_call_id"),
        (json!({"role": "user", "content": "a", "tool_call_id": "b"}), "messages[1].tool_call_id"),
        (json!({"role": "assistant", "tool_calls": [{}]}), "messages[1].tool_calls[0].id"),
        (
            json!({"role": "assistant", "tool_calls": [{"id": "a", "type": "custom"}]}),
            "messages[1].tool_calls[0].type",
        ),
        (
            json!({"role": "assistant", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}},
            ]}),
            "messages[1].tool_calls[0].function.arguments",
        ),
        (json!({"role": "user", "content": 5}), "messages[1].content"),
        (json!({"role": "user", "content": [5]}), "messages[1].content[0]"),
        (
            json!({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}),
            "messages[1].content[0].type",
        ),
        (json!({"role": "user", "content": [{"type": "text"}]}), "messages[1].content[0].text"),
        (
            json!({"role": "user", "content": [{"type": "text", "text": "a", "b": 1}]}),
            "messages[1].content[0].b",
        ),
        (json!({"role": "user", "content": "a", "name": "n"}), "messages[1].name"),
        (json!({"role": "assistant", "content": "a", "tool_calls": []}), "messages[1].tool_calls"),
        (json!({"role": "user", "content": "a", "mood": "good"}), "messages[1].mood"),
    ] {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "a"}, message]});
        let answer = ask(server.address, "/v1/chat/completions", &body);
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json()["error"]["param"], param, "{answer:?}");
    }
}

#[test]
fn rejects_bodies_that_are_not_requests() {
    let server = start(&settings());
    for body in
        ["", "{", "nul", "[]", "5", "\"a\"", "{\"model\": \"m\"} x", "\u{0}", &"[".repeat(4000)]
    {
        let mut connection = Connection::open(server.address);
        connection.post("/v1/chat/completions", body);
        connection.answer().is_error(400, None, None);
    }
    let mut connection = Connection::open(server.address);
    let request = post("/v1/completions", r#"{"model":"m","prompt":"a"}"#, "");
    connection.send(request.replace("application/json", "text/plain").as_bytes());
    connection.answer().is_error(415, None, Some("content_type"));
    for (path, body) in [
        ("/tokenize", json!({"prompt": 5})),
        ("/tokenize", json!({"prompt": ["a", "b"]})),
        ("/tokenize", json!({})),
        ("/tokenize", json!({"prompt": "a", "add_special_tokens": false})),
        ("/detokenize", json!({"tokens": [-1]})),
        ("/detokenize", json!({"tokens": [1_000_000]})),
        ("/detokenize", json!({"tokens": "a"})),
        ("/detokenize", json!({})),
    ] {
        assert_eq!(ask(server.address, path, &body).status, 400, "{path} {body}");
    }
    // Errors of the engine have the same format.
    let body = json!({"model": "m", "prompt": vec![7; 13]});
    ask(server.address, "/v1/completions", &body).is_error(400, None, None);
    let body = json!({"model": "m", "prompt": vec![7; 13], "stream": true});
    ask(server.address, "/v1/completions", &body).is_error(400, None, None);
}

#[test]
fn rejects_requests_without_the_right_key() {
    let server = start(&tiny_llm_cli::Settings { api_key: Some("sk-x".to_owned()), ..settings() });
    for path in ["/v1/models", "/metrics", "/live", "/nowhere"] {
        let answer = get(server.address, path);
        answer.is_error(401, None, Some("invalid_api_key"));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(get(server.address, "/health").status, 200);
    assert_eq!(get(server.address, "/").status, 200);
    let status = |key: &str| {
        let mut connection = Connection::open(server.address);
        let body = r#"{"model":"m","prompt":"a"}"#;
        let header = format!("authorization: Bearer {key}\r\n");
        connection.send(post("/v1/completions", body, &header).as_bytes());
        connection.answer().status
    };
    assert_eq!((status("sk-x"), status("sk-"), status("sk-y")), (200, 401, 401));
}

#[test]
fn cors_headers_are_sent_only_if_configured() {
    let preflight = "OPTIONS /v1/completions HTTP/1.1\r\nhost: localhost\r\norigin: https://a.example\r\n\
                     access-control-request-method: POST\r\n\r\n";
    let outcome = |cors: Option<&str>| {
        let cors = cors.map(str::to_owned);
        let server = start(&tiny_llm_cli::Settings { cors, ..settings() });
        let mut connection = Connection::open(server.address);
        connection.send(preflight.as_bytes());
        let before = connection.answer();
        let after = get(server.address, "/v1/models");
        let origin = |answer: &crate::client::Answer| {
            answer.header("access-control-allow-origin").map(str::to_owned)
        };
        (before.status, origin(&before), origin(&after))
    };
    assert_eq!(outcome(None), (405, None, None));
    for origin in ["*", "https://a.example"] {
        let allowed = Some(origin.to_owned());
        assert_eq!(outcome(Some(origin)), (204, allowed.clone(), allowed));
    }
}
