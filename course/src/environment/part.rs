//! One requirement of the course, and how to check it.

use std::process::Command;

use anyhow::Result;

use crate::process::run_quietly;

/// One requirement of the course.
#[derive(Debug)]
pub(super) struct Part {
    /// Name of the requirement in the output.
    pub(super) name: &'static str,
    /// What the check found, or a message that says what is missing and how to get it.
    pub(super) found: Result<String, String>,
    /// For an optional requirement, a remark that is shown if it is missing, such as what uses it.
    pub(super) optional: Option<&'static str>,
}

impl Part {
    pub(super) fn required(name: &'static str, found: Result<String, String>) -> Self {
        Self { name, found, optional: None }
    }

    pub(super) fn optional(
        name: &'static str,
        found: Result<String, String>,
        use_of: &'static str,
    ) -> Self {
        Self { name, found, optional: Some(use_of) }
    }

    /// Formats the requirement and the result of its check as one line.
    pub(super) fn line(&self) -> String {
        match (&self.found, self.optional) {
            (Ok(found), _) => format!("  ok        {:<12} {found}", self.name),
            (Err(lack), Some(use_of)) => format!("  optional  {:<12} {lack}; {use_of}", self.name),
            (Err(lack), None) => format!("  MISSING   {:<12} {lack}", self.name),
        }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.found.is_err() && self.optional.is_none()
    }
}

/// Returns the first line that a program prints.
///
/// # Errors
/// If the program cannot be started or fails.
pub(super) fn first_line(command: &mut Command) -> Result<String> {
    let finished = run_quietly(command)?;
    anyhow::ensure!(finished.status.success(), "failed");
    Ok(finished.text.lines().next().unwrap_or_default().to_owned())
}

/// Parses a version: `1.95.0-nightly` → (1, 95).
pub(super) fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Formats a size: `12 bytes`, `3.4 KiB`, `8.3 MiB`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}
