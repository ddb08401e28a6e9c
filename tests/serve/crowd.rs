//! Many clients at once. Every complete answer is the same as for its request alone. After all
//! clients have disconnected, the server has released everything.

use std::{
    io::Write,
    net::Shutdown,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use tiny_llm_harness::fixtures::Json;

use crate::{
    client::{Connection, metric, post},
    program::{Program, until},
};

/// Returns the number of clients at once: `TINY_LLM_CLIENTS`, or 100.
fn clients() -> usize {
    let said = std::env::var("TINY_LLM_CLIENTS").ok();
    said.map_or(100, |n| n.parse().expect("TINY_LLM_CLIENTS is a number"))
}

/// Number of different requests. Some share a prefix.
const KINDS: usize = 10;

fn body(kind: usize) -> String {
    let names = ["Sofia", "Tim", "Lily", "Ben", "Mia"];
    let tokens = 6 + 3 * (kind % 3);
    let more = match kind % 5 {
        0 => r#""temperature": 0"#,
        1 => r#""temperature": 1, "seed": 5"#,
        2 => r#""temperature": 0.8, "top_p": 0.9, "seed": 11"#,
        3 => r#""temperature": 0, "presence_penalty": 1.5, "frequency_penalty": 0.5"#,
        _ => r#""temperature": 1.5, "seed": 3, "n": 2, "stop": [" the", "."]"#,
    };
    let name = names[kind % names.len()];
    let long = "a small bear who lived in the wood and liked honey more than anything. ";
    let long = long.repeat(1 + kind % 2);
    format!(
        r#"{{"model": "m", "prompt": "Once upon a time there was {long}Then came {name}", "max_tokens": {tokens}, "stream": true, {more}}}"#
    )
}

/// Returns the texts of a complete streamed answer. Sleeps `pause` after each chunk.
fn texts(connection: &mut Connection, pause: Duration) -> Vec<String> {
    let head = connection.head();
    assert_eq!(head.status, 200, "{head:?}");
    let (mut whole, mut texts) = (String::new(), vec![String::new(); 2]);
    while let Some(chunk) = connection.chunk() {
        thread::sleep(pause);
        whole += &chunk;
    }
    let data = |event| str::strip_prefix(event, "data: ").expect("an event");
    let mut events: Vec<&str> = whole.split_terminator("\n\n").map(data).collect();
    assert_eq!(events.pop(), Some("[DONE]"), "{whole}");
    for event in events {
        let piece: Json = event.parse().expect("JSON");
        let choice = &piece["choices"][0];
        let index: usize = choice["index"].to_string().parse().expect("an index");
        texts[index] += choice["text"].as_str().expect("text");
    }
    texts
}

fn ask(server: &Program, kind: usize, pause: Duration) -> Vec<String> {
    let mut connection = Connection::open(server.address);
    connection.post("/v1/completions", &body(kind));
    texts(&mut connection, pause)
}

/// Runs client `i`. Some clients disconnect early, are slow, or send invalid bytes.
fn client(server: &Program, alone: &[Vec<String>], i: usize) {
    let kind = i % KINDS;
    let mut connection = Connection::open(server.address);
    match i % 10 {
        // Disconnects in the middle of the answer.
        7 => {
            connection.post("/v1/completions", &body(kind));
            assert_eq!(connection.head().status, 200);
            let _ = connection.chunk();
        }
        // Shuts down its sending half.
        8 => {
            connection.post("/v1/completions", &body(kind));
            let _ = connection.stream.get_ref().shutdown(Shutdown::Write);
            assert!(connection.is_closed());
        }
        // Sends bytes that are not HTTP, or an incomplete request.
        9 if i % 20 == 9 => {
            let _ = connection.stream.get_mut().write_all(&[0x16, 3, 1, 0xff, 0, 0xff, 13, 10]);
            let _ = connection.is_closed();
        }
        9 => {
            let head = post("/v1/completions", "{", "").replace("length: 1", "length: 5000");
            connection.send(head.as_bytes());
            thread::sleep(Duration::from_millis(300));
        }
        // Reads slowly.
        6 => assert_eq!(ask(server, kind, Duration::from_millis(20)), alone[kind], "slow {kind}"),
        _ => assert_eq!(ask(server, kind, Duration::ZERO), alone[kind], "client {i}, kind {kind}"),
    }
}

fn crowd(server: &Program, alone: &[Vec<String>]) {
    thread::scope(|scope| {
        for i in 0..clients() {
            let builder = thread::Builder::new().stack_size(256 * 1024);
            builder.spawn_scoped(scope, move || client(server, alone, i)).expect("a thread");
        }
    });
}

fn is_quiet(server: &Program) -> bool {
    let now = |name: &str| metric(server.address, &format!("tiny_llm_{name}"));
    now("connections") == 1.0 && now("requests_running") == 0.0 && now("requests_waiting") == 0.0
}

#[test]
fn many_clients_get_the_answers_of_one_and_leave_nothing_behind() {
    // With too few pages for eight requests, some are preempted.
    let server = Program::start(&["--max-batch", "8", "--pages", "14", "--max-queue", "4000"]);
    let alone: Vec<_> = (0..KINDS).map(|kind| ask(&server, kind, Duration::ZERO)).collect();
    assert!(alone.iter().all(|texts| !texts[0].is_empty()), "{alone:?}");
    until("it is quiet", || is_quiet(&server));
    #[cfg(target_os = "linux")]
    let files = server.files();
    crowd(&server, &alone);
    until("all have left", || is_quiet(&server));
    assert_eq!(metric(server.address, "tiny_llm_pages_used"), 0.0, "every page is free");
    #[cfg(target_os = "linux")]
    {
        until("as many files as before", || server.files() <= files);
        let memory = server.memory();
        crowd(&server, &alone);
        until("all have left again", || is_quiet(&server));
        let grown = server.memory().saturating_sub(memory);
        assert!(grown < 16 << 20, "a second crowd has left {grown} bytes");
        until("as many files as before", || server.files() <= files);
    }
    assert!(metric(server.address, "tiny_llm_preemptions_total") > 0.0, "it was never tight");
}

#[test]
fn shared_prefixes_and_drafts_change_no_answer() {
    let options = ["--max-batch", "8", "--pages", "64", "--max-queue", "4000", "--share-prefixes"];
    let server = Program::start(&[&options[..], &["--draft", "lookup"]].concat());
    let alone: Vec<_> = (0..KINDS).map(|kind| ask(&server, kind, Duration::ZERO)).collect();
    crowd(&server, &alone);
    until("all have left", || is_quiet(&server));
    assert!(metric(server.address, "tiny_llm_prefix_tokens_found_total") > 0.0, "nothing shared");
    assert!(metric(server.address, "tiny_llm_drafted_total") > 0.0, "nothing proposed");
}

/// Prompts of a megabyte are too long, and are rejected before they are tokenized. A short request
/// does not wait for them. Afterwards, the process keeps less than half of their size in memory.
#[test]
fn megabyte_prompts_delay_no_short_request_and_keep_no_memory() {
    const LONG: usize = 60;
    let server = Program::start(&[]);
    let text = "Once upon a time there was a small bear. ".repeat(25_000)[..1_000_000].to_owned();
    let long = format!(r#"{{"model": "m", "prompt": "{text}", "max_tokens": 2}}"#);
    let short = || {
        let mut connection = Connection::open(server.address);
        let body = r#"{"model": "m", "prompt": "Once", "max_tokens": 2, "temperature": 0}"#;
        connection.post("/v1/completions", body);
        let answer = connection.answer();
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["choices"][0]["text"].to_string()
    };
    let alone = short();
    #[cfg(target_os = "linux")]
    let (memory, ticks) = (server.memory(), server.ticks());
    let all_open = Barrier::new(LONG + 1);
    let waited = thread::scope(|scope| {
        for _ in 0..LONG {
            scope.spawn(|| {
                let mut connection = Connection::open(server.address);
                let request = post("/v1/completions", &long, "");
                let (first, rest) = request.split_at(request.len() / 2);
                connection.send(first.as_bytes());
                all_open.wait();
                connection.send(rest.as_bytes());
                let code = Some("context_length_exceeded");
                connection.answer().is_error(400, Some("prompt"), code);
            });
        }
        all_open.wait();
        let start = Instant::now();
        assert_eq!(short(), alone, "beside long prompts");
        start.elapsed()
    });
    println!("beside {LONG} long prompts a short request took {waited:?}");
    // Only with `--full`. On an idle machine, the short request takes a fraction of a second.
    if clients() > 100 {
        assert!(waited < Duration::from_secs(10), "{waited:?}");
    }
    #[cfg(target_os = "linux")]
    {
        println!("all took {} hundredths of a second of processor time", server.ticks() - ticks);
        let kept = || server.memory().saturating_sub(memory);
        until("the memory is released", || kept() < (LONG * text.len() / 2) as u64);
        println!("the server keeps {} bytes more than the {memory} before", kept());
    }
}
