//! Clients that leave, are slow or send invalid data, and a server that ends or fails. Other
//! clients are not affected. `tests/serve` of the repository checks that a crowd leaves nothing
//! behind.

use std::{
    io::Read, net::Shutdown, process::ExitCode, sync::atomic::Ordering::SeqCst, time::Duration,
};

use serde_json::{Value, json};
use tiny_llm_cli::Settings;

use crate::{
    client::{Connection, ask, get, metric},
    engine::{POISONED, ROWS, Running, settings, start},
};

const ENDLESS: &str = r#"{"model":"m","prompt":"a","max_tokens":90000,"stream":true}"#;
const ENDLESS_WHOLE: &str = r#"{"model":"m","prompt":"a","max_tokens":90000,"n":2}"#;

/// Sends a request, waits until it has a batch slot, and returns its client.
fn begun(server: &Running, body: &str) -> Connection {
    let rows = server.knobs.seen().rows;
    let mut client = Connection::open(server.address);
    client.post("/v1/completions", body);
    server.until("it has a row", |seen| seen.rows > rows);
    client
}

#[test]
fn a_disconnected_client_frees_its_slot_within_one_step() {
    let server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let stays = begun(&server, ENDLESS);
    for body in [ENDLESS, ENDLESS_WHOLE] {
        drop(begun(&server, body));
        server.until("its row is free", |seen| (seen.rows, seen.waiting) == (1, 0));
    }
    let seen = server.knobs.seen().clone();
    assert_eq!(seen.cancelled.len(), 3, "one streamed, two whole");
    for (id, step) in &seen.cancelled {
        let freed = seen.freed.iter().find(|(other, _)| other == id).expect("it is free");
        assert_eq!(
            freed.1,
            step + 1,
            "cancelled after step {step}: its slot must be free one step later"
        );
    }
    assert_eq!(metric(server.address, "tiny_llm_answers_total{how=\"left\"}"), 3.0);
    drop(stays);
}

#[test]
fn a_queued_client_that_disconnects_leaves_the_queue() {
    let server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let inside: Vec<Connection> = (0..ROWS).map(|_| begun(&server, ENDLESS)).collect();
    let mut client = Connection::open(server.address);
    client.post("/v1/completions", ENDLESS_WHOLE);
    server.until("it waits", |seen| seen.waiting == 2);
    drop(client);
    server.until("it does not", |seen| seen.waiting == 0);
    assert_eq!(server.knobs.seen().rows, inside.len());
}

#[test]
fn half_closing_a_connection_cancels_the_request() {
    let server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let client = begun(&server, ENDLESS);
    client.stream.get_ref().shutdown(Shutdown::Write).expect("it was open");
    server.until("its row is free", |seen| seen.rows == 0);
}

#[test]
fn a_slow_client_is_cut_off_and_delays_no_other_client() {
    let queue = 100;
    let server = start(&Settings { client_queue: queue, ..settings() });
    server.knobs.step_time.store(1000, SeqCst);
    // The client reads nothing. The system's buffers hold several megabytes.
    let slow = begun(&server, ENDLESS);
    let body = json!({"model": "m", "prompt": "b", "max_tokens": 50, "temperature": 0});
    let alone = ask(server.address, "/v1/completions", &body).json()["choices"][0]["text"].clone();
    server.knobs.step_time.store(20, SeqCst);
    server.until("the slow client's answer has ended", |seen| seen.rows == 0);
    assert_eq!(metric(server.address, "tiny_llm_answers_total{how=\"slow\"}"), 1.0);
    let answer = ask(server.address, "/v1/completions", &body).json();
    assert_eq!(answer["choices"][0]["text"], alone);
    // When the client reads again, it gets the buffered tokens and then the reason.
    let mut slow = slow;
    let answer = slow.answer();
    let events = answer.events();
    let last: Value = events[events.len() - 1].parse().expect("JSON");
    assert_eq!(last["error"]["code"], "too_slow");
    assert!(events.len() > queue, "{}", events.len());
    assert!(!answer.body.contains("[DONE]"));
}

#[test]
fn a_client_that_never_reads_is_disconnected() {
    let time = Duration::from_millis(200);
    let server = start(&Settings { client_queue: 100, write_time: time, ..settings() });
    server.knobs.step_time.store(1000, SeqCst);
    let _slow = begun(&server, ENDLESS);
    server.knobs.step_time.store(20, SeqCst);
    server.until("its answer is over", |seen| seen.rows == 0);
    crate::engine::until("its connection is closed", || {
        metric(server.address, "tiny_llm_connections") == 1.0
    });
}

#[test]
fn invalid_data_does_not_affect_other_clients() {
    let server = start(&settings());
    // Slows the engine down. Otherwise the answer that must continue would end too soon.
    server.knobs.step_time.store(1000, SeqCst);
    let client = begun(&server, ENDLESS);
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /v1/completions HTTP/9.9\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        b"POST /v1/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
          transfer-encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut connection = Connection::open(server.address);
        connection.send(nonsense);
        let _ = connection.stream.get_ref().shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let _ = connection.stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{nonsense:?}: {said}");
    }
    assert_eq!(get(server.address, "/health").status, 200);
    assert_eq!(server.knobs.seen().rows, 1);
    drop(client);
}

#[test]
fn shutdown_finishes_running_answers_and_refuses_new_ones() {
    let mut server = start(&settings());
    server.knobs.step_time.store(5000, SeqCst);
    let body = r#"{"model":"m","prompt":"a","max_tokens":200,"stream":true}"#;
    let mut runs = begun(&server, body);
    let mut idle = Connection::open(server.address);
    idle.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(idle.answer().status, 200);
    server.knobs.stop.store(true, SeqCst);
    let answer = runs.answer();
    assert_eq!(answer.events().len(), 202, "200 tokens, the end, and [DONE]");
    assert!(idle.is_closed());
    assert_eq!(
        format!("{:?}", server.wait().expect("it ends well")),
        format!("{:?}", ExitCode::SUCCESS)
    );
    let refused = std::net::TcpStream::connect(server.address);
    assert!(refused.is_err(), "nobody listens any more");
}

#[test]
fn answers_unfinished_after_the_grace_period_get_an_error() {
    let mut server = start(&Settings { grace: Duration::from_millis(100), ..settings() });
    server.knobs.step_time.store(1000, SeqCst);
    let mut stream = begun(&server, ENDLESS);
    let mut whole = begun(&server, ENDLESS_WHOLE);
    server.knobs.stop.store(true, SeqCst);
    let events = stream.answer().events();
    let last: Value = events[events.len() - 1].parse().expect("JSON");
    assert_eq!(last["error"]["code"], "shutting_down");
    let answer = whole.answer();
    answer.is_error(503, None, Some("shutting_down"));
    assert!(answer.header("retry-after").is_some());
    server.wait().expect("it ends well");
}

#[test]
fn an_open_live_view_does_not_delay_shutdown() {
    let mut server = start(&settings());
    let mut watcher = Connection::open(server.address);
    watcher.send(b"GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(watcher.head().status, 200);
    server.end().expect("it ends well");
}

/// The client with the NaN logits gets an error. Other clients and the server are not affected.
#[test]
fn logits_that_are_not_finite_end_one_request() {
    let mut server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let mut innocent = begun(&server, ENDLESS);
    let tokens = vec![5; POISONED];
    for stream in [false, true] {
        let body = json!({"model": "m", "prompt": tokens, "max_tokens": 3, "stream": stream});
        let answer = ask(server.address, "/v1/completions", &body);
        answer.is_error(500, None, Some("not_finite"));
        assert!(!answer.body.contains('/'), "no path: {answer:?}");
    }
    let failed = metric(server.address, "tiny_llm_answers_total{how=\"not_finite\"}");
    assert_eq!(failed, 2.0);
    server.knobs.stop.store(true, SeqCst);
    let events = innocent.answer().events();
    assert!(events.len() > 2, "the other request must continue: {events:?}");
    server.wait().expect("it ends well");
}

#[test]
fn a_failed_engine_sends_an_error_to_each_waiting_client() {
    let mut server = start(&settings());
    server.knobs.step_time.store(1000, SeqCst);
    let mut stream = begun(&server, ENDLESS);
    let mut whole = begun(&server, ENDLESS_WHOLE);
    server.knobs.fails.store(true, SeqCst);
    let events = stream.answer().events();
    let last: Value = events[events.len() - 1].parse().expect("JSON");
    assert_eq!(last["error"]["message"], "logits that are no numbers");
    whole.answer().is_error(500, None, Some("engine_failed"));
    let error = server.wait().expect_err("it has failed");
    assert_eq!(error.to_string(), "logits that are no numbers");
}

#[test]
fn a_panic_in_an_unwritten_task_is_sent_to_the_client() {
    let mut server = start(&settings());
    // The template runs next to the engine: only this request fails.
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "panic"}]});
    let answer = ask(server.address, "/v1/chat/completions", &body);
    answer.is_error(500, None, Some("engine_failed"));
    assert!(answer.body.contains("chatml"), "{answer:?}");
    // Slows the engine down. Otherwise the answer would end too soon.
    server.knobs.step_time.store(1000, SeqCst);
    let mut whole = begun(&server, ENDLESS_WHOLE);
    server.knobs.panics.store(true, SeqCst);
    let answer = whole.answer();
    answer.is_error(500, None, Some("engine_failed"));
    assert!(answer.body.contains("week3-day1 task 4"), "{answer:?}");
    let code = server.wait().expect("the server returns an exit code");
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(101)));
}
