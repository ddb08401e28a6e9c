//! Files with one JSON object per line.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

/// A parsed line, and its position for error messages.
pub(super) struct Line {
    place: String,
    value: Value,
}

impl Line {
    pub(super) fn text(&self, field: &str) -> Result<String> {
        let text = self.value[field].as_str();
        text.map(str::to_owned).with_context(|| {
            format!(
                "{}: field {field:?}: found {}, expected a string",
                self.place, self.value[field]
            )
        })
    }
}

/// Reads a file, and returns the result of `parse` for each line.
pub(super) fn read_lines<T>(path: &Path, parse: impl Fn(&Line) -> Result<T>) -> Result<Vec<T>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
    let mut all = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let place = format!("{name}:{number}");
        let value = serde_json::from_str(line).map_err(|e| anyhow!("{place}: not JSON: {e}"))?;
        all.push(parse(&Line { place, value })?);
    }
    ensure!(!all.is_empty(), "{name}: found no JSON, expected one object per line");
    Ok(all)
}
