//! Constrained answers: schemas and tool calls. The engine in these tests writes the shortest
//! possible answer.

use serde_json::{Value, json};
use tiny_llm_cli::{Form, Settings};

use crate::{
    client::{ask, with},
    engine::{Running, settings, start},
};

const CHATS: &str = "/v1/chat/completions";

/// Returns settings that allow long lists of tools.
fn roomy() -> Settings {
    Settings { max_prompt: None, max_body: 1 << 20, ..settings() }
}

fn chat(more: &Value) -> Value {
    with(&json!({"model": "m", "messages": [{"role": "user", "content": "a"}]}), more)
}

fn tool(name: &str, parameters: &Value) -> Value {
    let function = json!({"name": name, "parameters": parameters, "strict": true});
    json!({"type": "function", "function": function})
}

fn tools() -> Value {
    let city = json!({
        "type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}},
        "required": ["city"], "additionalProperties": false,
    });
    json!([tool("get_weather", &city), tool("now", &json!({"type": "object", "properties": {}}))])
}

fn shown(server: &Running) -> String {
    let seen = server.knobs.seen().clone();
    let form = seen.requests.last().and_then(|request| request.form.clone());
    let Some(Form::Shape(shape)) = form else { return format!("{form:?}") };
    String::from_utf8(shape.closing_text(&shape.start())).expect("text")
}

#[test]
fn a_schema_reaches_the_engine_with_its_keys_in_order() {
    let server = start(&roomy());
    // Not in alphabetical order. It is sent as text, because a `Value` would be sorted.
    let schema = r##"{"type": "object", "properties": {
        "z": {"type": "null"}, "a": {"$ref": "#/$defs/d"}
    }, "required": ["a", "z"], "$defs": {"d": {"const": 5}}}"##;
    let format = format!(
        r#"{{"type":"json_schema","json_schema":{{"name":"n","strict":true,"schema":{schema}}}}}"#
    );
    for (path, prompt) in [
        (CHATS, r#""messages":[{"role":"user","content":"a"}]"#),
        ("/v1/completions", r#""prompt":"a""#),
    ] {
        let body = format!(r#"{{"model":"m",{prompt},"response_format":{format}}}"#);
        let mut connection = crate::client::Connection::open(server.address);
        connection.post(path, &body);
        let answer = connection.answer();
        assert_eq!(answer.status, 200, "{answer:?}");
        let choice = &answer.json()["choices"][0];
        let text = choice["message"]["content"].as_str().or(choice["text"].as_str());
        assert_eq!(text, Some(r#"{"z":null,"a":5}"#), "{answer:?}");
        assert_eq!(choice["finish_reason"], "stop");
    }
}

#[test]
fn rejects_an_invalid_schema_with_its_path() {
    let server = start(&roomy());
    let schema = |schema: Value| {
        let format = json!({"name": "n", "schema": schema});
        chat(&json!({"response_format": {"type": "json_schema", "json_schema": format}}))
    };
    for (value, place) in [
        (json!({"type": "object", "properties": {"a": {"not": {}}}}), "/properties/a/not"),
        (json!({"type": "string", "pattern": "(?=a)"}), "/pattern"),
        (json!({"$ref": "#/$defs/none"}), "/$ref"),
        (json!(5), "at its top level"),
        (json!({"enum": ["x".repeat(70_000)]}), "65536"),
    ] {
        let answer = ask(server.address, CHATS, &schema(value));
        answer.is_error(400, Some("response_format"), Some("invalid_json_schema"));
        assert!(answer.body.contains(place), "{answer:?}");
    }
    for (format, param) in [
        (json!({}), "response_format.json_schema.name"),
        (json!({"name": "a b", "schema": {}}), "response_format.json_schema.name"),
        (json!({"name": "a"}), "response_format.json_schema.schema"),
        (json!({"name": "a", "schema": {}, "more": 1}), "response_format.json_schema.more"),
        (json!({"name": "a", "schema": {}, "strict": 1}), "response_format.json_schema.strict"),
        (json!(5), "response_format.json_schema"),
    ] {
        let format = json!({"type": "json_schema", "json_schema": format});
        let answer = ask(server.address, CHATS, &chat(&json!({"response_format": format})));
        let error = answer.json()["error"].clone();
        assert_eq!((answer.status, error["param"].as_str()), (400, Some(param)), "{answer:?}");
    }
    assert!(server.knobs.seen().requests.is_empty(), "none reaches the engine");
}

#[test]
fn a_tool_is_called() {
    let server = start(&roomy());
    let named = json!({"type": "function", "function": {"name": "get_weather"}});
    for (choice, name, arguments) in
        [(json!("required"), "now", "{}"), (named, "get_weather", r#"{"city":"Oslo"}"#)]
    {
        let mut body = chat(&json!({
            "tools": tools(), "tool_choice": choice, "parallel_tool_calls": false, "n": 2,
        }));
        let answer = ask(server.address, CHATS, &body).json();
        assert_ne!(
            answer["choices"][0]["message"]["tool_calls"][0]["id"],
            answer["choices"][1]["message"]["tool_calls"][0]["id"]
        );
        for choice in answer["choices"].as_array().expect("choices") {
            let call = &choice["message"]["tool_calls"][0];
            assert_eq!(choice["finish_reason"], "tool_calls");
            assert_eq!(choice["message"]["content"], Value::Null);
            assert_eq!(call["type"], "function");
            assert_eq!(call["function"], json!({"name": name, "arguments": arguments}));
            assert!(call["id"].as_str().is_some_and(|id| id.starts_with("call_")));
        }
        body["stream"] = true.into();
        let events = ask(server.address, CHATS, &body).events();
        for choice in 0..2 {
            let calls = collected(&events, choice);
            assert_eq!(calls.len(), 1, "{calls:?}");
            assert_eq!(calls[0]["function"], json!({"name": name, "arguments": arguments}));
        }
    }
}

/// Combines the parts of each tool call in the answer with index `choice` of a stream, as OpenAI's
/// clients do, and returns the calls. Checks that the answer contains nothing else.
fn collected(events: &[String], choice: usize) -> Vec<Value> {
    let (mut calls, mut reasons) = (Vec::<Value>::new(), Vec::new());
    for event in events.iter().filter(|event| *event != "[DONE]") {
        let event: Value = event.parse().expect("JSON");
        let part = &event["choices"][0];
        if part["index"] != choice {
            continue;
        }
        assert_eq!(part["delta"]["content"], Value::Null, "{event}");
        reasons.extend(part["finish_reason"].as_str().map(str::to_owned));
        for more in part["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = more["index"].as_u64().expect("a number") as usize;
            assert!(index <= calls.len(), "calls begin in their order: {more}");
            if index == calls.len() {
                assert!(more["id"].is_string() && more["type"] == "function", "{more}");
                calls.push(more.clone());
                continue;
            }
            assert_eq!((more.get("id"), more["function"].get("name")), (None, None), "{more}");
            let text = calls[index]["function"]["arguments"].as_str().expect("arguments");
            let text = text.to_owned() + more["function"]["arguments"].as_str().expect("arguments");
            calls[index]["function"]["arguments"] = text.into();
        }
    }
    assert_eq!(reasons, ["tool_calls"]);
    calls
}

#[test]
fn several_tools_are_called() {
    let server = start(&roomy());
    let named = json!({"type": "function", "function": {"name": "now"}});
    for (more, count) in [
        (json!({}), 2),
        (json!({"parallel_tool_calls": true}), 2),
        (json!({"parallel_tool_calls": null}), 2),
        (json!({"parallel_tool_calls": false}), 1),
        (json!({"tool_choice": named}), 1),
        (json!({"tool_choice": named, "parallel_tool_calls": true}), 1),
    ] {
        let mut body = chat(&with(&json!({"tools": tools(), "tool_choice": "required"}), &more));
        let answer = ask(server.address, CHATS, &body).json();
        let choice = &answer["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls", "{more}");
        let calls = choice["message"]["tool_calls"].as_array().expect("calls");
        assert_eq!(calls.len(), count, "{more}: {answer}");
        for call in calls {
            assert_eq!(call["function"], json!({"name": "now", "arguments": "{}"}), "{more}");
        }
        assert!(calls.windows(2).all(|pair| pair[0]["id"] != pair[1]["id"]), "{answer}");
        body["stream"] = true.into();
        let streamed = collected(&ask(server.address, CHATS, &body).events(), 0);
        assert_eq!(streamed.len(), count, "{more}: {streamed:?}");
        for call in streamed {
            assert_eq!(call["function"], json!({"name": "now", "arguments": "{}"}), "{more}");
        }
        // Sends back all calls, and a result for each.
        let answers = calls
            .iter()
            .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "noon"}));
        let before = [body["messages"][0].clone(), choice["message"].clone()];
        let messages: Vec<Value> = before.into_iter().chain(answers).collect();
        let body = chat(&json!({"messages": messages, "tools": tools(), "max_tokens": 2}));
        assert_eq!(ask(server.address, CHATS, &body).status, 200, "{more}");
    }
}

#[test]
fn an_answer_may_contain_no_tool_call() {
    let server = start(&roomy());
    for choice in [json!("auto"), Value::Null] {
        let body = chat(&json!({"tools": tools(), "tool_choice": choice, "max_tokens": 3}));
        let answer = ask(server.address, CHATS, &body).json();
        let choice = &answer["choices"][0];
        assert_eq!(choice["message"]["content"].as_str().map(str::len), Some(3));
        assert_eq!(
            (choice["message"].get("tool_calls"), &choice["finish_reason"]),
            (None, &json!("length"))
        );
        assert_eq!(shown(&server), "", "an answer may be empty");
    }
    let none = ask(
        server.address,
        CHATS,
        &chat(&json!({"tools": tools(), "tool_choice": "none", "max_tokens": 3})),
    );
    assert_eq!((none.status, shown(&server).as_str()), (200, "None"));
    let seen = server.knobs.seen().clone();
    let prompts: Vec<usize> = seen.requests.iter().map(|r| r.request.prompt.len()).collect();
    assert!(
        prompts[0] > prompts[2],
        "tools that may be called are shown to the model: {prompts:?}"
    );
}

#[test]
fn rejects_invalid_tools_by_field_name() {
    let server = start(&roomy());
    let function = |function: Value| json!([{"type": "function", "function": function}]);
    for (more, param) in [
        (json!({"tools": 5}), "tools"),
        (json!({"tools": [5]}), "tools[0]"),
        (json!({"tools": [{"type": "web_search"}]}), "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].function"),
        (json!({"tools": function(json!({"name": "a b"}))}), "tools[0].function.name"),
        (json!({"tools": function(json!({"name": "a", "more": 1}))}), "tools[0].function.more"),
        (json!({"tools": function(json!({"name": "a", "parameters": {"not": {}}}))}), "tools"),
        (
            json!({"tools": function(json!({"name": "a", "parameters": {"type": "string"}}))}),
            "tools",
        ),
        (json!({"tools": [tools()[1], tools()[1]]}), "tools"),
        (json!({"tool_choice": "auto"}), "tool_choice"),
        (json!({"tool_choice": "required"}), "tool_choice"),
        (json!({"parallel_tool_calls": true}), "parallel_tool_calls"),
        (json!({"tools": tools(), "tool_choice": "any"}), "tool_choice"),
        (json!({"tools": tools(), "tool_choice": {"type": "allowed_tools"}}), "tool_choice"),
        (
            json!({
                "tools": tools(),
                "tool_choice": {"type": "function", "function": {"name": "x"}},
            }),
            "tool_choice",
        ),
        (json!({"tools": tools(), "response_format": {"type": "json_object"}}), "response_format"),
        (json!({"tools": tools(), "stop": "a"}), "stop"),
        (json!({"tools": tools(), "logprobs": true}), "logprobs"),
    ] {
        let answer = ask(server.address, CHATS, &chat(&more));
        assert_eq!(answer.status, 400, "{more}: {answer:?}");
        assert_eq!(answer.json()["error"]["param"], param, "{more}: {answer:?}");
    }
    assert!(server.knobs.seen().requests.is_empty(), "none reaches the engine");
}
