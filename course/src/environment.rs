//! What is on this machine: each part says whether it is there, what for, and how to get it.

use std::{path::Path, process::Command};

use anyhow::{Context, Result};

use crate::process::{forget_cargo, run_quietly};

/// The oldest Python on which the pinned packages run.
const PYTHON: (u32, u32) = (3, 10);

/// One thing that the course uses.
#[derive(Debug)]
pub(crate) struct Part {
    /// What it is.
    pub(crate) name: &'static str,
    /// What was found, or what is missing and how to get it.
    pub(crate) found: Result<String, String>,
    /// Whether the course works without it, and what then does not.
    pub(crate) optional: Option<&'static str>,
}

/// Everything that the course uses.
pub(crate) fn parts(root: &Path) -> Vec<Part> {
    vec![
        Part { name: "Rust", found: rust(root), optional: None },
        Part { name: "linker", found: linker(), optional: None },
        Part { name: "disk space", found: disk(root), optional: None },
        Part {
            name: "Python",
            found: python().map(|python| format!("{} ({})", python.version_text(), python.program.join(" "))),
            optional: Some("only `cargo course verify` and the checks against live PyTorch use it"),
        },
    ]
}

/// Prints one line for each part.
///
/// # Errors
/// If something is missing that is not optional.
pub(crate) fn report(root: &Path) -> Result<()> {
    let mut missing = Vec::new();
    for part in parts(root) {
        match (&part.found, part.optional) {
            (Ok(found), _) => println!("  ok        {:<11} {found}", part.name),
            (Err(lack), Some(use_of)) => println!("  optional  {:<11} {lack}; {use_of}", part.name),
            (Err(lack), None) => {
                println!("  MISSING   {:<11} {lack}", part.name);
                missing.push(part.name);
            }
        }
    }
    anyhow::ensure!(missing.is_empty(), "this machine lacks what the course needs: {}", missing.join(", "));
    Ok(())
}

fn rust(root: &Path) -> Result<String, String> {
    let needed = needed_rust(root).map_err(|error| format!("{error:#}"))?;
    let mut command = Command::new("rustc");
    command.arg("--version").current_dir(root);
    forget_cargo(&mut command);
    let text = first_line(&mut command).map_err(|_| format!("rustc {needed} or newer is missing: install it from https://rustup.rs"))?;
    let found = text.split_whitespace().nth(1).unwrap_or_default();
    if version(found) >= version(&needed) {
        Ok(format!("{found} (needs {needed})"))
    } else {
        Err(format!("rustc {found} is too old, {needed} is needed: run `rustup update stable`"))
    }
}

/// `rust-version` of the workspace.
fn needed_rust(root: &Path) -> Result<String> {
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    Ok(package
        .and_then(|package| package.get("rust-version")?.as_str())
        .context("Cargo.toml has no workspace.package.rust-version")?
        .to_owned())
}

/// The runner itself was linked on this machine or another; a new build needs the linker again.
fn linker() -> Result<String, String> {
    if cfg!(windows) {
        // rustc finds Visual Studio's linker in the registry; that this program was built is the evidence there is.
        return Ok("found by rustc".to_owned());
    }
    let advice = match std::env::consts::OS {
        "macos" => "run `xcode-select --install`",
        _ => "install gcc or clang (Debian, Ubuntu: `sudo apt install build-essential`; Fedora: `sudo dnf install gcc`)",
    };
    first_line(Command::new("cc").arg("--version")).map_err(|_| format!("`cc` is missing: {advice}"))
}

/// Room for the build folder: `df` where there is one.
fn disk(root: &Path) -> Result<String, String> {
    let needed = 2 << 20; // KiB
    if cfg!(windows) {
        return Ok("not looked at on this system; keep 2 GiB free".to_owned());
    }
    let free = run_quietly(Command::new("df").arg("-Pk").arg(root)).ok().and_then(|df| {
        let row = df.text.lines().nth(1)?.to_owned();
        row.split_whitespace().nth(3)?.parse::<u64>().ok()
    });
    match free {
        Some(free) if free >= needed => Ok(format!("{} GiB free (needs 2; with PyTorch 8)", free >> 20)),
        Some(free) => Err(format!("{} MiB free, but building needs 2 GiB (with PyTorch 8)", free >> 10)),
        None => Ok("unknown (`df` gave no answer); keep 2 GiB free".to_owned()),
    }
}

/// A Python to make the environment with.
#[derive(Debug)]
pub(crate) struct Python {
    /// `["python3"]`, `["py", "-3"]`.
    pub(crate) program: Vec<&'static str>,
    version: (u32, u32),
}

impl Python {
    fn version_text(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// A command that runs it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.program[0]);
        command.args(&self.program[1..]);
        command
    }
}

/// The first Python that is new enough, or what is missing.
pub(crate) fn python() -> Result<Python, String> {
    let mut too_old = None;
    for program in [vec!["python3"], vec!["python"], vec!["py", "-3"]] {
        let mut python = Python { program, version: (0, 0) };
        // Windows has a `python3` that opens a shop: only one that answers counts.
        let Ok(text) = first_line(python.command().arg("--version")) else { continue };
        python.version = version(text.trim_start_matches("Python "));
        if text.starts_with("Python ") && python.version >= PYTHON {
            return Ok(python);
        }
        too_old.get_or_insert(text);
    }
    let advice = format!("Python {}.{} or newer: https://www.python.org, or your system's package manager", PYTHON.0, PYTHON.1);
    Err(match too_old {
        Some(found) => format!("{found} is too old; install {advice}"),
        None => format!("missing; install {advice}"),
    })
}

fn first_line(command: &mut Command) -> Result<String> {
    let finished = run_quietly(command)?;
    anyhow::ensure!(finished.status.success(), "failed");
    Ok(finished.text.lines().next().unwrap_or_default().to_owned())
}

/// `1.95.0-nightly` → (1, 95).
fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("3.9.2") < PYTHON && version("3.10.0") >= PYTHON && version("3.14.0rc1") >= PYTHON);
        assert_eq!(version("1.95.0-nightly"), (1, 95));
    }

    #[test]
    fn the_machine_that_runs_this_test_can_build() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for part in parts(root) {
            assert!(part.found.is_ok() || part.optional.is_some(), "{part:?}");
        }
    }
}
