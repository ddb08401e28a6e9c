//! Start and shutdown of the program.

use crate::{client::Connection, program::Program};

#[cfg(unix)]
#[test]
fn sigterm_finishes_running_requests_and_exits_with_0() {
    let mut server = Program::start(&["--grace", "60"]);
    let mut client = Connection::open(server.address);
    let body =
        r#"{"model": "m", "prompt": "Once", "max_tokens": 100, "temperature": 0, "stream": true}"#;
    client.post("/v1/completions", body);
    assert_eq!(client.head().status, 200);
    server.terminate();
    let mut text = String::new();
    while let Some(chunk) = client.chunk() {
        text += &chunk;
    }
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let (code, said) = server.wait();
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(std::net::TcpStream::connect(server.address).is_err(), "nobody listens any more");
}

#[test]
fn a_port_in_use_is_reported_in_one_line() {
    let first = Program::start(&[]);
    let port = first.address.port().to_string();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tiny-story");
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_tiny-llm-serve"))
        .args(["serve", "--model", model, "--port", &port])
        .output()
        .expect("it starts");
    let said = String::from_utf8(second.stderr).expect("text");
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.lines().count() == 1 && said.contains(&port), "{said}");
}
