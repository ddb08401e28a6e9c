//! Requests by function call, without a network.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use serde_json::{Value, json};
use tiny_llm_server::{Local, LocalAnswer, Piece};

use crate::engine::{Knobs, ROWS, opened, settings, until};

const PATIENCE: Duration = Duration::from_millis(20);

fn start() -> (Local, Arc<Knobs>) {
    let knobs = Arc::new(Knobs::default());
    let own = Arc::clone(&knobs);
    let local = Local::start(move || Ok((opened(&own), settings())));
    (local.expect("it opens"), knobs)
}

fn post(local: &Local, body: &Value) -> LocalAnswer {
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    local
        .ask("POST", "/v1/completions", &headers, body.to_string().into_bytes())
        .expect("a request")
}

/// Waits for the whole answer. Returns its status and its body.
fn whole(mut answer: LocalAnswer) -> (u16, String) {
    let status = loop {
        if let Some(head) = answer.head(PATIENCE).expect("the engine lives") {
            break head.status;
        }
    };
    let mut body = Vec::new();
    loop {
        match answer.more(PATIENCE).expect("the engine lives") {
            Piece::Bytes(bytes) => body.extend(bytes),
            Piece::Later => {}
            Piece::End => break,
        }
    }
    (status, String::from_utf8(body).expect("text"))
}

#[test]
fn local_request_is_answered_like_an_http_request() {
    let (local, _knobs) = start();
    let (status, body) = whole(post(&local, &json!({"model":"m","prompt":"a","max_tokens":3})));
    let answer: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &answer["usage"]["completion_tokens"]), (200, &json!(3)));
    let request = json!({"model":"m","prompt":"a","max_tokens":3,"stream":true});
    let (_, events) = whole(post(&local, &request));
    assert!(events.starts_with("data: {") && events.ends_with("data: [DONE]\n\n"), "{events}");
    let (status, body) = whole(post(&local, &json!({"model":"m","prompt":"a","echo":true})));
    assert!(status == 400 && body.contains("unsupported_parameter"), "{body}");
    let nowhere = local.ask("GET", "/nowhere", &[], Vec::new()).expect("a request");
    assert_eq!(whole(nowhere).0, 404);
    for (method, path) in [("G T", "/"), ("GET", "nowhere"), ("GET", "")] {
        assert!(local.ask(method, path, &[], Vec::new()).is_err(), "{method} {path}");
    }
}

#[test]
fn dropping_an_answer_frees_its_slot() {
    let (local, knobs) = start();
    knobs.step_time.store(1000, SeqCst);
    let long = json!({"model":"m","prompt":"a","max_tokens":90000,"stream":true});
    // Two threads read requests, so one request may overtake another. The others are sent when the
    // first has a slot.
    let mut answers = vec![post(&local, &long)];
    until("the first request has its row", || knobs.seen().rows == 1);
    answers.extend((0..ROWS).map(|_| post(&local, &long)));
    until("all rows are taken, and one request waits", || {
        knobs.seen().rows == ROWS && knobs.seen().waiting == 1
    });
    // Drops one answer that has begun, and one that has not been read.
    while !matches!(answers[0].more(PATIENCE).expect("it lives"), Piece::Bytes(_)) {}
    drop(answers.drain(..2));
    until("two are gone", || knobs.seen().rows == ROWS - 1 && knobs.seen().waiting == 0);
}

#[test]
fn returns_an_error_after_the_engine_has_stopped() {
    let (mut local, knobs) = start();
    // Nothing reads the answer while the server closes, and only a few pieces are buffered, so only
    // a few steps may run.
    knobs.step_time.store(100_000, SeqCst);
    let mut answer =
        post(&local, &json!({"model":"m","prompt":"a","max_tokens":90000,"stream":true}));
    while !matches!(answer.more(PATIENCE).expect("it lives"), Piece::Bytes(_)) {}
    local.close().expect("it ends well");
    assert!(local.ask("GET", "/health", &[], Vec::new()).is_err());
    let (_, rest) = whole(answer);
    assert!(rest.contains("shutting_down"), "{rest}");
    let (local, knobs) = start();
    knobs.panics.store(true, SeqCst);
    let request = json!({"model":"m","prompt":"a","max_tokens":3});
    let (status, body) = whole(post(&local, &request));
    assert!(status == 500 && body.contains("engine_failed"), "{status} {body}");
    let failed = Local::start(|| anyhow::bail!("no such file"));
    assert_eq!(failed.err().map(|error| error.to_string()).as_deref(), Some("no such file"));
}
