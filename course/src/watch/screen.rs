//! Where watching is shown: a terminal with keys, or plain lines.

use std::{
    io::{self, IsTerminal, Write},
    panic,
};

use anyhow::{Context, Result};
use crossterm::{
    cursor::MoveTo,
    execute,
    terminal::{Clear, ClearType, disable_raw_mode, enable_raw_mode},
};

use crate::{ink, progress::Line};

/// Standard output. On a terminal keys are read as they are pressed, until this is dropped.
pub(crate) struct Screen {
    interactive: bool,
    /// One line that comes and goes.
    passing: Line,
}

impl Screen {
    /// Interactive if input and output are a terminal and nobody asks for plain text.
    ///
    /// # Errors
    /// If the terminal refuses to give single keys.
    pub(crate) fn open() -> Result<Self> {
        let interactive =
            io::stdin().is_terminal() && io::stdout().is_terminal() && !ink::plain_wanted();
        if interactive {
            enable_raw_mode()
                .context("this terminal gives no single keys; try NO_COLOR=1 cargo course watch")?;
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                let _ = disable_raw_mode();
                before(info);
            }));
        }
        Ok(Self { interactive, passing: Line::new() })
    }

    /// Whether keys arrive one by one.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// A clean terminal; elsewhere nothing.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.passing.clear();
        if self.interactive {
            execute!(io::stdout(), Clear(ClearType::All), MoveTo(0, 0))
                .context("the terminal is gone")?;
        }
        Ok(())
    }

    /// Says what is going on: on a terminal until the next words, elsewhere as a line.
    pub(crate) fn pass(&mut self, text: &str) -> Result<()> {
        if self.interactive {
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
        // In raw mode a line feed does not return to the first column.
        let text = if self.interactive { text.replace('\n', "\r\n") } else { text.to_owned() };
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .context("standard output is closed")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.passing.clear();
        if self.interactive {
            let _ = disable_raw_mode();
        }
    }
}
