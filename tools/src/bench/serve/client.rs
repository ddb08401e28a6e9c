//! Sends one streamed request over its own connection, and measures times.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// Maximum time without data from a server.
const PATIENCE: Duration = Duration::from_secs(300);

/// An answer, its time to first token, and its inter-token latencies.
pub(super) struct Answered {
    /// Number of tokens, as counted by the server.
    pub(super) tokens: u64,
    pub(super) first: Duration,
    /// Times between consecutive events with text.
    pub(super) gaps: Vec<Duration>,
}

/// Sends a request, and reads the answer to the end.
///
/// # Errors
/// If the server rejects the request, or its answer is incomplete.
pub(super) fn ask(address: SocketAddr, body: &str) -> Result<Answered> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).context("cannot connect to the server")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let head = format!(
        "POST /v1/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    if !line.contains(" 200 ") {
        let mut rest = String::new();
        let _ = lines.read_to_string(&mut rest);
        bail!("the server answers {}: {}", line.trim(), rest.lines().last().unwrap_or_default());
    }
    let (mut first, mut last, mut gaps, mut tokens) = (None, start, Vec::new(), None);
    loop {
        line.clear();
        ensure!(lines.read_line(&mut line)? > 0, "the answer is incomplete");
        // Other lines are headers, lengths of chunks, or empty.
        let Some(event) = line.strip_prefix("data: ").map(str::trim) else { continue };
        if event == "[DONE]" {
            break;
        }
        let now = Instant::now();
        let event: Value = serde_json::from_str(event).context("the answer is not JSON")?;
        if let Some(error) = event.get("error") {
            bail!("the server says {error}");
        }
        if let Some(count) = event["usage"]["completion_tokens"].as_u64() {
            tokens = Some(count);
        }
        let over = |choice: &Value| !choice["finish_reason"].is_null();
        let choices = event["choices"].as_array().map_or(&[][..], Vec::as_slice);
        // The last events contain only the finish reason and the usage.
        if choices.is_empty() || choices.iter().all(over) {
            continue;
        }
        match first {
            None => first = Some(now - start),
            Some(_) => gaps.push(now - last),
        }
        last = now;
    }
    let tokens = tokens.context("the server does not say how many tokens there were")?;
    Ok(Answered { tokens, first: first.unwrap_or_else(|| last - start), gaps })
}
