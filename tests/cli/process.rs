//! Runs the binary.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

/// The output and the exit code of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns a command that runs the binary with `args`, not yet started. Sets `RUST_BACKTRACE`, as
/// some environments do. Even so, no backtrace may be printed.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiny-llm"));
    command
        .args(args)
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary with an empty standard input.
pub(crate) fn run(args: &[&str]) -> Run {
    finished(command(args).output().expect("the binary starts"))
}

/// Runs the binary with `input` as standard input.
pub(crate) fn run_with_input(args: &[&str], input: &[u8]) -> Run {
    let mut child = command(args).stdin(Stdio::piped()).spawn().expect("the binary starts");
    // The binary may end without reading all input.
    let _ = child.stdin.take().expect("piped").write_all(input);
    finished(child.wait_with_output().expect("the binary ends"))
}

/// Runs `logits`, which needs no tokenizer.
pub(crate) fn logits(model: &str, tokens: &str, out: &str) -> Run {
    run(&["logits", "--model", model, "--tokens", tokens, "--out", out])
}

pub(crate) fn finished(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

impl Run {
    /// Checks that the run failed with the exit code `code`, printed one line to standard error
    /// that contains all `words`, and printed nothing to standard output.
    #[track_caller]
    pub(crate) fn fails_in_one_line(&self, what: &str, code: i32, words: &[&str]) {
        let Self { stdout, stderr, .. } = self;
        assert_eq!(self.code, code, "{what}: exit code\n{stdout}\n{stderr}");
        assert_eq!(stdout, "", "{what}: standard output");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{what}: expected one line\n{stderr}");
        for word in words {
            assert!(stderr.contains(word), "{what}: expected {word:?} in\n{stderr}");
        }
        assert!(!stderr.contains("panicked") && !stderr.contains("backtrace"), "{what}: {stderr}");
    }

    /// Checks that the run succeeded.
    #[track_caller]
    pub(crate) fn succeeds(self, what: &str) -> Self {
        assert_eq!(self.code, 0, "{what}: exit code\n{}\n{}", self.stdout, self.stderr);
        self
    }
}
