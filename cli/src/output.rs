//! Standard output, which may be closed at any time, and notes on standard error.

use std::{
    io::{self, ErrorKind, Write},
    ops::ControlFlow,
};

use anyhow::{Result, anyhow};

/// Standard output. If its reader closes it (`| head`), the command stops without an error.
pub(super) struct Output {
    out: io::Stdout,
    /// `Ok`, or the first write error.
    state: io::Result<()>,
    /// Whether the output is empty or its last character is a line break.
    line_ended: bool,
}

impl Output {
    pub(super) fn new() -> Self {
        Self { out: io::stdout(), state: Ok(()), line_ended: true }
    }

    /// Writes and flushes text. Returns whether every write so far has succeeded.
    pub(super) fn write(&mut self, text: &str) -> bool {
        if self.state.is_ok() && !text.is_empty() {
            self.state = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
            self.line_ended = text.ends_with('\n');
        }
        self.is_open()
    }

    /// Writes text. Returns `Break` once a write has failed.
    pub(super) fn stream(&mut self, text: &str) -> ControlFlow<()> {
        if self.write(text) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Returns whether every write so far has succeeded.
    pub(super) fn is_open(&self) -> bool {
        self.state.is_ok()
    }

    /// Writes a line break, unless the output is empty or already ends with one.
    pub(super) fn end_line(&mut self) {
        if !self.line_ended {
            self.write("\n");
        }
    }

    /// Writes `lines`. Adds a line break after the last one if it has none.
    pub(super) fn print(mut self, lines: &str) -> Result<()> {
        self.write(lines);
        self.end_line();
        self.result()
    }

    /// Returns the first write error, unless its cause is a closed pipe.
    pub(super) fn result(self) -> Result<()> {
        match self.state {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(anyhow!("standard output: cannot be written: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// Prints a line to standard error. Ignores a write error, because there is nowhere to report it.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints text to standard error without a line break.
pub(super) fn prompt(text: &str) {
    let _ = write!(io::stderr(), "{text}").and_then(|()| io::stderr().flush());
}

/// Replaces each line break and the white space around it with one space.
pub(super) fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Formats an error as one line of limited length.
pub(super) fn failure(error: &str) -> String {
    format!("error: {}", bounded(&one_line(error)))
}

/// Shortens a message to fit a screen, because an error may quote a very long name from a file.
/// Keeps the beginning (which file) and the end (what was expected).
pub(super) fn bounded(text: &str) -> String {
    const HEAD: usize = 600;
    const TAIL: usize = 300;
    let length = text.chars().count();
    if length <= HEAD + TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} […] {tail}")
}
