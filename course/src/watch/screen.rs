//! Where watching is shown: a terminal with keys, or plain lines.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};

use super::keys::SingleKeys;
use crate::{ink, progress::Line};

/// Standard output. On a terminal keys are read as they are pressed, until this is dropped.
pub(crate) struct Screen {
    keys: Option<SingleKeys>,
    /// One line that comes and goes.
    passing: Line,
}

impl Screen {
    /// Interactive if input and output are a terminal and nobody asks for plain text.
    pub(crate) fn open() -> Self {
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let interactive = terminal && !ink::plain_wanted();
        let keys = interactive.then(SingleKeys::of_terminal).flatten();
        Self { keys, passing: Line::default() }
    }

    /// Whether keys arrive one by one.
    pub(crate) fn is_interactive(&self) -> bool {
        self.keys.is_some()
    }

    /// A clean terminal; elsewhere nothing.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.passing.clear();
        if self.is_interactive() { self.show("\x1b[2J\x1b[H") } else { Ok(()) }
    }

    /// Says what is going on: on a terminal until the next words, elsewhere as a line.
    pub(crate) fn pass(&mut self, text: &str) -> Result<()> {
        if self.is_interactive() {
            self.passing.show(text);
            Ok(())
        } else {
            self.show(&format!("{text}\n"))
        }
    }

    /// Says how far a build has come: often on a terminal, seldom elsewhere.
    pub(crate) fn step(&mut self, text: &str) {
        self.passing.show(text);
    }

    /// Shows text.
    ///
    /// # Errors
    /// If nobody can see it any more.
    pub(crate) fn show(&mut self, text: &str) -> Result<()> {
        self.passing.clear();
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .context("standard output is closed")
    }
}
