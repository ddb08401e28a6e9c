//! Runs the program.

use std::process::{Command, Output, Stdio};

use super::{Cache, hub::Hub};

/// Returns a command that runs the program, without the user's settings in its environment.
pub(crate) fn command(cache: &Cache, hub: &Hub, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiny-llm-fetch"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_uppercase();
        if text.starts_with("HF_") || text.starts_with("HUGGING") || text.ends_with("_PROXY") {
            command.env_remove(name);
        }
    }
    command.env("HF_HOME", cache.path()).env("HF_HUB_CACHE", cache.path());
    command.env("HF_ENDPOINT", hub.endpoint());
    command
}

/// Checks that the program failed with the exit code `code`, and with one line on standard error
/// that contains all of `words`.
#[track_caller]
pub(crate) fn fails_in_one_line(output: &Output, code: i32, words: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert_eq!(output.stdout, b"", "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    for word in words {
        assert!(error.contains(word), "expected {word:?} in {error}");
    }
}
