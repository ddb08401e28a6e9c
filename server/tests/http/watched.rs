//! The server's information about itself: its metrics, and the view of the batch.

use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};

use crate::{
    client::{Connection, ask, get, metric},
    engine::{settings, start, until},
};

#[test]
fn metrics_count_requests_and_tokens() {
    let server = start(&settings());
    let body = json!({"model": "m", "prompt": [7, 8, 9], "max_tokens": 6, "n": 2});
    assert_eq!(ask(server.address, "/v1/completions", &body).status, 200);
    let body = json!({"model": "m", "prompt": 5});
    assert_eq!(ask(server.address, "/v1/completions", &body).status, 400);
    for (name, expected) in [
        ("answers_total{how=\"done\"}", 2.0),
        ("answers_total{how=\"left\"}", 0.0),
        ("refused_total{why=\"invalid\"}", 1.0),
        ("prompt_tokens_total", 6.0),
        ("new_tokens_total", 12.0),
        ("time_to_first_token_seconds_count", 2.0),
        ("time_between_tokens_seconds_count", 10.0),
        ("rows_total", 12.0),
        ("step_rows_sum", 12.0),
        ("pages", 5.0),
        ("prefix_tokens_asked_total", 7.0),
        ("prefix_tokens_found_total", 3.0),
        ("drafted_total", 5.0),
        ("drafts_accepted_total", 2.0),
        ("requests_running", 0.0),
        ("connections", 1.0),
    ] {
        let name = format!("tiny_llm_{name}");
        until(&format!("{name} is {expected}"), || metric(server.address, &name) == expected);
    }
    let text = get(server.address, "/metrics").body;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, number) = line.rsplit_once(' ').expect("a name and a number");
        assert!(name.starts_with("tiny_llm_") && number.parse::<f64>().is_ok(), "{line}");
    }
}

/// Reads the next view of the batch from a connection to the live view.
fn view(connection: &mut Connection) -> Value {
    let event = connection.chunk().expect("a view");
    event.strip_prefix("data: ").expect("an event").trim_end().parse().expect("JSON")
}

#[test]
fn live_view_shows_the_request_in_each_slot() {
    let server = start(&settings());
    server.knobs.step_time.store(2000, SeqCst);
    let mut client = Connection::open(server.address);
    let body = r#"{"model":"m","prompt":[7,8,9],"max_tokens":90000,"user":"ada","n":2}"#;
    client.post("/v1/completions", body);
    server.until("it runs", |seen| seen.rows == 2);
    let mut watcher = Connection::open(server.address);
    watcher.send(b"GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(watcher.head().header("content-type"), Some("text/event-stream"));
    let first = view(&mut watcher);
    assert_eq!(first["rows"].as_array().expect("rows").len(), 2);
    let row = &first["rows"][1];
    assert_eq!((&row["user"], &row["slot"], &row["choice"]), (&json!("ada"), &json!(1), &json!(1)));
    assert_eq!(row["prompt"], 3);
    assert_eq!(first["pages"]["map"], json!([2, 3, 0, 0, 1]));
    assert_eq!(first["pages"]["found"], json!([3, 7]));
    let steps = first["steps"].as_u64();
    until("a view of a later step", || view(&mut watcher)["steps"].as_u64() > steps);
    drop(client);
    // The last view has no requests.
    until("the view is empty", || view(&mut watcher)["rows"] == json!([]));
}
