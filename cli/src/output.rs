//! Standard output, which may go away at any time, and notes on standard error.

use std::{
    io::{self, ErrorKind, Write},
    ops::ControlFlow,
};

use anyhow::{Result, anyhow};

/// Standard output. That its reader has left (`| head`) is not an error, only a reason to stop.
pub(super) struct Output {
    out: io::Stdout,
    /// Whether more may be written.
    state: io::Result<()>,
    /// Whether the last character was a line's end.
    line_ended: bool,
}

impl Output {
    pub(super) fn new() -> Self {
        Self { out: io::stdout(), state: Ok(()), line_ended: true }
    }

    /// Writes at once, whatever the reader: text is shown as it comes. Says whether more may be
    /// written.
    pub(super) fn write(&mut self, text: &str) -> bool {
        if self.state.is_ok() && !text.is_empty() {
            self.state = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
            self.line_ended = text.ends_with('\n');
        }
        self.is_open()
    }

    /// The same, as an answer to whether more text is wanted.
    pub(super) fn stream(&mut self, text: &str) -> ControlFlow<()> {
        if self.write(text) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Whether more may be written.
    pub(super) fn is_open(&self) -> bool {
        self.state.is_ok()
    }

    /// Ends the line if one was begun.
    pub(super) fn end_line(&mut self) {
        if !self.line_ended {
            self.write("\n");
        }
    }

    /// Writes whole lines, as a command's last word.
    pub(super) fn print(mut self, lines: &str) -> Result<()> {
        self.write(lines);
        self.end_line();
        self.result()
    }

    /// What became of it all.
    pub(super) fn result(self) -> Result<()> {
        match self.state {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(anyhow!("standard output: cannot be written: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// One line on standard error, whose failure nobody could be told of.
pub(super) fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// As `note`, without ending the line.
pub(super) fn prompt(text: &str) {
    let _ = write!(io::stderr(), "{text}").and_then(|()| io::stderr().flush());
}

/// The text with every run of white space that holds a line's end turned into one space.
pub(super) fn one_line(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// A message that fits a screen: an error may quote what it found, and a file can hold a name of a
/// megabyte. Beginning and end stay, because they say which file it was and what was expected.
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
