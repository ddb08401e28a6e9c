//! The reference solution. Task bodies are between `// SOLUTION weekN-dayM task K` and
//! `// END SOLUTION`; `cargo course stubs` makes the learner's `src/` from these files.

#[path = "../../provided/mod.rs"]
mod provided;
pub mod week1;
#[cfg(feature = "engine")]
pub mod week2;
#[cfg(feature = "engine")]
pub mod week3;
#[cfg(feature = "engine")]
pub mod week4;
