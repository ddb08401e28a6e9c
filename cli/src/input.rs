//! Standard input as text.

use std::io::{self, BufRead, IsTerminal, Read};

use anyhow::{Result, anyhow, ensure};

/// Returns the prompt: `given`, the argument of -p, or else all of standard input. Drops a final
/// line break of standard input, unless `raw` is set.
pub(super) fn prompt(given: Option<String>, raw: bool) -> Result<String> {
    let text = match given {
        Some(text) => text,
        None => {
            ensure!(!io::stdin().is_terminal(), "no prompt: give one with -p, or pipe one in");
            let mut bytes = Vec::new();
            io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|e| anyhow!("standard input: cannot be read: {e}"))?;
            let mut text = utf8(bytes, 0)?;
            if !raw {
                drop_line_end(&mut text);
            }
            text
        }
    };
    ensure!(!text.is_empty(), "the prompt is empty, expected some text to continue");
    Ok(text)
}

/// Lines of standard input, one at a time.
pub(super) struct Lines {
    /// Number of bytes of standard input before the next line.
    offset: usize,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { offset: 0 }
    }

    /// Returns the next line without its line break, or `None` at the end of the input.
    pub(super) fn next(&mut self) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = io::stdin()
            .lock()
            .read_until(b'\n', &mut bytes)
            .map_err(|e| anyhow!("standard input: cannot be read: {e}"))?;
        if read == 0 {
            return Ok(None);
        }
        let mut line = utf8(bytes, self.offset)?;
        self.offset += read;
        drop_line_end(&mut line);
        Ok(Some(line))
    }
}

fn utf8(bytes: Vec<u8>, offset: usize) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!(
            "standard input: found the byte {:#04x} at offset {}, expected UTF-8",
            error.as_bytes()[at],
            offset + at
        )
    })
}

fn drop_line_end(text: &mut String) {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
}
