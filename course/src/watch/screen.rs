//! The output of `cargo course watch`: a terminal with keys, or plain lines.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};

use super::keys::SingleKeys;
use crate::{ink, progress::Line};

/// The output of `cargo course watch`. On a terminal, input is in single-key mode until the screen
/// is dropped.
pub(crate) struct Screen {
    keys: Option<SingleKeys>,
    /// A temporary status line.
    passing: Line,
}

impl Screen {
    /// Opens the screen. The screen is interactive if input and output are terminals and the
    /// environment doesn't ask for plain text.
    pub(crate) fn open() -> Self {
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let interactive = terminal && !ink::plain_wanted();
        let keys = interactive.then(SingleKeys::of_terminal).flatten();
        Self { keys, passing: Line::default() }
    }

    /// Returns whether each key arrives as soon as it is pressed.
    pub(crate) fn is_interactive(&self) -> bool {
        self.keys.is_some()
    }

    /// Clears a terminal. Does nothing elsewhere.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.passing.clear();
        if self.is_interactive() { self.show("\x1b[2J\x1b[H") } else { Ok(()) }
    }

    /// Shows a status: temporarily on a terminal, as an ordinary line elsewhere.
    pub(crate) fn pass(&mut self, text: &str) -> Result<()> {
        if self.is_interactive() {
            self.passing.show(text);
            Ok(())
        } else {
            self.show(&format!("{text}\n"))
        }
    }

    /// Shows the progress of a build: frequently on a terminal, and rarely elsewhere.
    pub(crate) fn step(&mut self, text: &str) {
        self.passing.show(text);
    }

    /// Shows text.
    ///
    /// # Errors
    /// If the output is closed.
    pub(crate) fn show(&mut self, text: &str) -> Result<()> {
        self.passing.clear();
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .context("standard output is closed")
    }
}
