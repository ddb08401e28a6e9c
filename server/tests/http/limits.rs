//! Limits of bodies, headers, prompts, waiting requests, and times.

use std::{io::Write, sync::atomic::Ordering::SeqCst, time::Duration};

use serde_json::json;
use tiny_llm_cli::Settings;

use crate::{
    client::{Connection, ask, get, metric, post},
    engine::{QUEUE, ROWS, settings, start, until},
};

const LONG: &str = r#"{"model":"m","prompt":"a","max_tokens":90000}"#;

#[test]
fn rejects_a_long_body_with_or_without_a_length() {
    let server = start(&settings());
    let long = format!(r#"{{"model":"m","prompt":"{}"}}"#, "a".repeat(5000));
    let mut connection = Connection::open(server.address);
    connection.post("/v1/completions", &long);
    let answer = connection.answer();
    answer.is_error(413, None, Some("body_too_large"));
    // A chunked body does not state its length in advance.
    let mut connection = Connection::open(server.address);
    connection.send(
        b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
          transfer-encoding: chunked\r\n\r\n",
    );
    for _ in 0..5 {
        connection.send(format!("3e8\r\n{}\r\n", "a".repeat(1000)).as_bytes());
    }
    connection.answer().is_error(413, None, Some("body_too_large"));
    assert!(connection.is_closed());
}

#[test]
fn a_header_has_a_limit() {
    let server = start(&settings());
    let mut connection = Connection::open(server.address);
    let head =
        format!("GET /health HTTP/1.1\r\nhost: localhost\r\nlong: {}\r\n\r\n", "a".repeat(70_000));
    // The server may close the connection before it has read everything.
    let _ = connection.stream.get_mut().write_all(head.as_bytes());
    assert_eq!(connection.head().status, 431);
    assert_eq!(get(server.address, "/health").status, 200);
}

#[test]
fn a_text_that_cannot_fit_is_not_tokenized() {
    let server = start(&Settings { max_body: 1 << 20, max_prompt: Some(50), ..settings() });
    let body = json!({"model": "m", "prompt": "a".repeat(100_000), "max_tokens": 1});
    let answer = ask(server.address, "/v1/completions", &body);
    answer.is_error(400, Some("prompt"), Some("context_length_exceeded"));
    let message = &answer.json()["error"]["message"];
    let words = "found 100000 bytes, expected at most ";
    assert!(message.as_str().is_some_and(|text| text.contains(words)), "{message}");
}

#[test]
fn rejects_hosts_that_are_not_allowed() {
    let server = start(&settings());
    let status = |host: &str| {
        let mut connection = Connection::open(server.address);
        connection.send(format!("GET /health HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes());
        connection.answer()
    };
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:9", "letters.example"] {
        assert_eq!(status(host).status, 200, "{host}");
    }
    for host in ["attacker.example", "localhost.attacker.example", "letters.example.org", "a b"] {
        status(host).is_error(403, Some("Host"), Some("host_not_allowed"));
    }
}

#[test]
fn a_prompt_has_a_limit() {
    let server = start(&settings());
    let of = |tokens: usize| {
        let body = json!({"model": "m", "prompt": vec![7; tokens], "max_tokens": 1});
        ask(server.address, "/v1/completions", &body)
    };
    assert_eq!(of(50).status, 200);
    of(51).is_error(400, Some("prompt"), Some("context_length_exceeded"));
}

#[test]
fn rejects_requests_while_the_queue_is_full() {
    let server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let mut clients = Vec::new();
    for _ in 0..ROWS + QUEUE {
        let mut client = Connection::open(server.address);
        client.post("/v1/completions", LONG);
        clients.push(client);
    }
    server.until("all places are taken", |seen| (seen.rows, seen.waiting) == (ROWS, QUEUE));
    until("the metrics say so", || {
        metric(server.address, "tiny_llm_requests_waiting") == QUEUE as f64
    });
    let short = json!({"model": "m", "prompt": "a", "max_tokens": 1});
    let answer = ask(server.address, "/v1/completions", &short);
    answer.is_error(429, None, Some("queue_full"));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(metric(server.address, "tiny_llm_refused_total{why=\"full\"}"), 1.0);
    assert_eq!(metric(server.address, "tiny_llm_refused_total{why=\"invalid\"}"), 0.0);
    // A waiting client leaves, which frees exactly one place in the queue.
    clients.pop();
    server.until("one has left", |seen| seen.waiting == QUEUE - 1);
    let two = json!({"model": "m", "prompt": "a", "max_tokens": 1, "n": 2});
    ask(server.address, "/v1/completions", &two).is_error(429, None, Some("queue_full"));
    drop(clients);
    server.until("all have left", |seen| (seen.rows, seen.waiting) == (0, 0));
    assert_eq!(ask(server.address, "/v1/completions", &two).status, 200);
}

#[test]
fn disconnects_clients_that_stop_sending() {
    let time = Duration::from_secs(2);
    let server = start(&Settings { header_time: time, body_time: time, ..settings() });
    let mut silent = Connection::open(server.address);
    let mut half = Connection::open(server.address);
    half.send(b"POST /v1/completions HT");
    let mut idle = Connection::open(server.address);
    idle.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(idle.answer().status, 200);
    let mut endless = Connection::open(server.address);
    let head = post("/v1/completions", "", "").replace("content-length: 0", "content-length: 999");
    endless.send(head.as_bytes());
    endless.send(b"{");
    endless.answer().is_error(408, None, Some("body_too_slow"));
    assert!(endless.is_closed());
    assert!(silent.is_closed() && half.is_closed() && idle.is_closed());
}

#[test]
fn connections_above_the_limit_wait() {
    let server = start(&Settings { max_connections: 2, ..settings() });
    let mut inside: Vec<Connection> = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(server.address);
        connection.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
        assert_eq!(connection.answer().status, 200);
        inside.push(connection);
    }
    let mut outside = Connection::open(server.address);
    outside.send(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
    inside.pop();
    let metrics = outside.answer().body;
    assert!(metrics.contains("\ntiny_llm_connections 2\n"), "{metrics}");
}
