//! The engine's programs, and how each is built.

/// The story of `cargo course start`: the part of the finished engine that builds soonest.
pub const STORY: [&str; 7] =
    ["--release", "--package", "tiny-llm-reference", "--features", "story", "--bin", "story"];

/// The command line on the learner's solution, as `cargo llm` has it.
pub const YOURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli", "--bin", "tiny-llm"];

/// The command line on ours, as `cargo llm-ref` has it.
pub const OURS: [&str; 7] =
    ["--release", "--package", "tiny-llm", "--features", "cli,reference", "--bin", "tiny-llm"];
