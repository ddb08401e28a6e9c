//! Reads JSON files, and shortens values for error messages.

use std::path::Path;

use anyhow::{Result, anyhow};
use serde_json::Value;

/// Returns the text of a file.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| anyhow!("{}: cannot be read: {e}", path.display()))
}

/// Returns the contents of a JSON file.
///
/// # Errors
/// If the file cannot be read, or is not JSON.
pub(crate) fn read_json(path: &Path) -> Result<Value> {
    parse(&read_text(path)?, &path.display().to_string())
}

/// Parses the text of a JSON file. `file` is the file's name, for error messages.
///
/// # Errors
/// If the text is not JSON.
pub(crate) fn parse(text: &str, file: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| anyhow!("{file}: not JSON: {e}"))
}

/// Shortens a text to `most` characters for an error message.
pub(crate) fn shortened(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
