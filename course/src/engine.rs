//! The engine's programs, and how each is built.

use std::path::{Path, PathBuf};

/// The story of `cargo course start`: the part of the finished engine that builds soonest.
pub const STORY: [&str; 7] =
    ["--release", "--package", "tiny-llm-reference", "--features", "story", "--bin", "story"];

/// The command line on the learner's solution, as `cargo llm` has it.
pub const YOURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli", "--bin", "tiny-llm"];

/// The command line on ours, as `cargo llm-ref` has it.
pub const OURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli,reference", "--bin", "tiny-llm"];

/// The same with a graphics processor, as `cargo llm-gpu` has it.
const ON_A_GPU: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli,gpu", "--bin", "tiny-llm"];

/// How the engine of an alias in `.cargo/config.toml` is built: `llm`, `llm-ref`, `llm-gpu`.
pub(crate) fn named(alias: &str) -> Option<&'static [&'static str]> {
    match alias {
        "llm" => Some(&YOURS),
        "llm-ref" => Some(&OURS),
        "llm-gpu" => Some(&ON_A_GPU),
        _ => None,
    }
}

/// The program that each of them becomes.
pub(crate) fn program(root: &Path) -> PathBuf {
    let name = format!("tiny-llm{}", std::env::consts::EXE_SUFFIX);
    crate::process::target(root).join("release").join(name)
}
