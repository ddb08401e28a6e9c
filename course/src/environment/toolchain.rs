//! Checks the build tools.

use std::{path::Path, process::Command};

use anyhow::{Context, Result};

use super::part::{Part, first_line, version};
use crate::process::{self, forget_cargo};

/// Checks the compiler.
pub(super) fn rust(root: &Path) -> Part {
    Part::required("Rust", rustc(root))
}

fn rustc(root: &Path) -> Result<String, String> {
    let needed = needed_rust(root).map_err(|error| format!("{error:#}"))?;
    let mut command = Command::new("rustc");
    command.arg("--version").current_dir(root);
    forget_cargo(&mut command);
    let text = first_line(&mut command).map_err(|_| {
        format!("rustc {needed} or newer is missing: install it from https://rustup.rs")
    })?;
    let found = text.split_whitespace().nth(1).unwrap_or_default();
    if version(found) >= version(&needed) {
        Ok(format!("{found} (needs {needed})"))
    } else {
        Err(format!("rustc {found} is too old, {needed} is needed: run `rustup update stable`"))
    }
}

/// Returns the `rust-version` of the workspace.
fn needed_rust(root: &Path) -> Result<String> {
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    Ok(package
        .and_then(|package| package.get("rust-version")?.as_str())
        .context("Cargo.toml has no workspace.package.rust-version")?
        .to_owned())
}

/// Checks the linker. The runner itself may have been linked on another machine, but a build needs
/// a linker on this one.
pub(super) fn linker() -> Part {
    Part::required("linker", cc())
}

fn cc() -> Result<String, String> {
    if cfg!(windows) {
        // rustc finds Visual Studio's linker in the registry. The only evidence that it exists is
        // that this program was built.
        return Ok("found by rustc".to_owned());
    }
    let advice = match std::env::consts::OS {
        "macos" => "run `xcode-select --install`",
        _ => {
            "install gcc or clang (Debian, Ubuntu: `sudo apt install build-essential`; Fedora: \
             `sudo dnf install gcc`)"
        }
    };
    first_line(Command::new("cc").arg("--version"))
        .map_err(|_| format!("`cc` is missing: {advice}"))
}

/// Checks the cargo that started this program, or the default one.
pub(super) fn cargo(root: &Path) -> Part {
    let found = first_line(process::cargo(root).arg("--version"))
        .map_err(|_| "missing: install Rust from https://rustup.rs".to_owned());
    Part::required("cargo", found.map(|text| text.trim_start_matches("cargo ").to_owned()))
}

/// Checks the formatter.
pub(super) fn rustfmt(root: &Path) -> Part {
    component(root, "rustfmt", "fmt", "`cargo fmt` and `cargo course verify --thorough` use it")
}

/// Checks the linter.
pub(super) fn clippy(root: &Path) -> Part {
    component(root, "clippy", "clippy", "only `cargo course verify --thorough` uses it")
}

fn component(root: &Path, name: &'static str, subcommand: &str, use_of: &'static str) -> Part {
    let found = first_line(process::cargo(root).args([subcommand, "--version"]));
    let found = found.map(|text| text.split_whitespace().nth(1).unwrap_or_default().to_owned());
    Part::optional(
        name,
        found.map_err(|_| format!("missing: run `rustup component add {name}`")),
        use_of,
    )
}

/// Checks git.
pub(super) fn git() -> Part {
    let found = first_line(Command::new("git").arg("--version"))
        .map(|text| text.trim_start_matches("git version ").to_owned());
    let found = found
        .map_err(|_| "missing: https://git-scm.com, or your system's package manager".to_owned());
    Part::optional(
        "git",
        found,
        "`cargo course diff`, `cargo course update` and `cargo course verify` use it",
    )
}

/// Checks whether the engine's libraries are downloaded. If not, its first build needs the network.
pub(super) fn libraries(root: &Path) -> Part {
    let tree = process::tree(root, "--locked --package tiny-llm --features cli,reference");
    let found = if tree.is_some() {
        Ok("downloaded; from now on, only PyTorch and the book's first build need the network"
            .to_owned())
    } else {
        Err("not all downloaded: the first build needs the network (crates.io)".to_owned())
    };
    Part::optional("libraries", found, "`cargo course start` downloads and builds them")
}
