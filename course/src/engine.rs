//! The engine's programs, and cargo's options for building each.

use std::path::{Path, PathBuf};

/// Cargo's options for the part of the reference engine that `cargo course start` needs for its
/// story. This build is faster than those of the command line.
pub const STORY: [&str; 7] =
    ["--release", "--package", "tiny-llm-reference", "--features", "story", "--bin", "story"];

/// Cargo's options for the command line with the learner's solution, as `cargo llm` runs it.
pub const YOURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli", "--bin", "tiny-llm"];

/// Cargo's options for the command line with the reference, as `cargo llm-ref` runs it.
pub const OURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli,reference", "--bin", "tiny-llm"];

/// Cargo's options for the command line with GPU support, as `cargo llm-gpu` runs it.
const ON_A_GPU: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli,gpu", "--bin", "tiny-llm"];

/// Returns cargo's options for the engine that an alias in `.cargo/config.toml` runs: `llm`,
/// `llm-ref` or `llm-gpu`.
pub(crate) fn named(alias: &str) -> Option<&'static [&'static str]> {
    match alias {
        "llm" => Some(&YOURS),
        "llm-ref" => Some(&OURS),
        "llm-gpu" => Some(&ON_A_GPU),
        _ => None,
    }
}

/// Returns the path of the program that all builds of [`named`] produce.
pub(crate) fn program(root: &Path) -> PathBuf {
    let name = format!("tiny-llm{}", std::env::consts::EXE_SUFFIX);
    crate::process::target(root).join("release").join(name)
}
