//! Streamed answers.

use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};

use crate::{
    client::{Answer, Connection, ask},
    engine::{settings, start},
};

/// Returns the JSON of every event except the last, which is the end marker.
#[track_caller]
fn pieces(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let mut events = answer.events();
    assert_eq!(events.pop().as_deref(), Some("[DONE]"));
    events.iter().map(|event| event.parse().expect("JSON")).collect()
}

#[test]
fn streamed_chunks_add_up_to_the_complete_answer() {
    let server = start(&settings());
    let mut body = json!({
        "model": "m", "messages": [{"role": "user", "content": "a"}], "max_tokens": 20, "n": 3,
        "seed": 5,
    });
    let whole = ask(server.address, "/v1/chat/completions", &body).json();
    body["stream"] = true.into();
    let pieces = pieces(&ask(server.address, "/v1/chat/completions", &body));
    let mut texts = vec![String::new(); 3];
    let mut reasons = vec![Value::Null; 3];
    for (i, piece) in pieces.iter().enumerate() {
        assert_eq!(piece["object"], "chat.completion.chunk");
        assert_eq!(piece["id"], pieces[0]["id"]);
        assert!(piece.get("usage").is_none(), "nobody asked for it");
        let choice = &piece["choices"][0];
        let index = choice["index"].as_u64().expect("an index") as usize;
        if i < 3 {
            assert_eq!(choice["delta"], json!({"role": "assistant", "content": ""}));
        }
        assert_eq!(reasons[index], Value::Null, "a piece comes after the finish reason");
        texts[index] += choice["delta"]["content"].as_str().unwrap_or_default();
        reasons[index] = choice["finish_reason"].clone();
    }
    for i in 0..3 {
        let choice = &whole["choices"][i];
        assert_eq!(choice["message"]["content"], texts[i]);
        assert_eq!(choice["finish_reason"], reasons[i]);
    }
}

#[test]
fn usage_is_in_the_last_chunk_if_requested() {
    let server = start(&settings());
    let mut body = json!({
        "model": "m", "prompt": "a", "max_tokens": 4, "stream": true,
        "stream_options": {"include_usage": true, "include_obfuscation": false},
    });
    let found = pieces(&ask(server.address, "/v1/completions", &body));
    let (last, others) = found.split_last().expect("pieces");
    assert_eq!(last["choices"], json!([]));
    assert_eq!(last["usage"]["completion_tokens"], 4);
    assert!(
        others.iter().all(|piece| piece["usage"] == Value::Null && piece.get("usage").is_some())
    );
    assert!(others.iter().all(|piece| piece["object"] == "text_completion"));
    body["stream_options"]["include_usage"] = false.into();
    let found = pieces(&ask(server.address, "/v1/completions", &body));
    assert!(found.iter().all(|piece| piece.get("usage").is_none()));
}

#[test]
fn never_sends_any_part_of_a_stop_text() {
    let server = start(&settings());
    let mut body = json!({"model": "m", "prompt": "a", "max_tokens": 40, "temperature": 0});
    let whole = ask(server.address, "/v1/completions", &body).json();
    let whole = whole["choices"][0]["text"].as_str().expect("text").to_owned();
    let stop = &whole[10..13];
    body["stop"] = json!([stop, format!("{}#", &whole[5..8])]);
    body["stream"] = true.into();
    body["logprobs"] = 0.into();
    let found = pieces(&ask(server.address, "/v1/completions", &body));
    let text = |piece: &Value| piece["choices"][0]["text"].as_str().expect("text").to_owned();
    let said: String = found.iter().map(text).collect();
    assert_eq!(said, whole[..whole.find(stop).expect("it is there")]);
    assert_eq!(found[found.len() - 1]["choices"][0]["finish_reason"], "stop");
    // Text that was held back arrives in one piece, with its tokens.
    let held = found
        .iter()
        .find(|piece| text(piece).len() == 4)
        .expect("a piece with three held letters and the next letter");
    let logprobs = &held["choices"][0]["logprobs"];
    assert_eq!(logprobs["token_logprobs"].as_array().expect("an array").len(), 4);
}

#[test]
fn each_token_is_sent_as_soon_as_it_is_computed() {
    let server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let mut connection = Connection::open(server.address);
    connection
        .post("/v1/completions", r#"{"model":"m","prompt":"a","max_tokens":99000,"stream":true}"#);
    assert_eq!(connection.head().status, 200);
    let first = connection.chunk().expect("a piece");
    assert!(first.starts_with("data: {"), "{first}");
    // The rest has not been computed yet. Waiting for it would take too long.
    assert!(server.knobs.seen().steps < 99_000);
    drop(connection);
    server.until("the row is free again", |seen| seen.rows == 0);
}
