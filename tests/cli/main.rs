//! Tests the command line: runs the binary, and checks its output and exit code.
//!
//! With the feature `reference`, everything is checked. Without it, the learner's code runs, and
//! any task may be missing. Then each command must work, or report in one line which task it needs.
#![cfg_attr(
    not(feature = "reference"),
    allow(dead_code, reason = "the damaged folders are for the reference alone")
)]

#[cfg(feature = "reference")]
mod bad_files;
#[cfg(feature = "reference")]
mod batch;
#[cfg(feature = "reference")]
mod commands;
#[cfg(feature = "reference")]
mod drafts;
#[cfg(feature = "reference")]
mod experts;
mod folder;
#[cfg(feature = "reference")]
mod graph;
#[cfg(feature = "reference")]
mod hardening;
#[cfg(feature = "reference")]
mod json;
#[cfg(feature = "reference")]
mod names;
#[cfg(feature = "reference")]
mod not_finite;
mod options;
mod process;
#[cfg(feature = "reference")]
mod quantize;
#[cfg(feature = "reference")]
mod repack;
#[cfg(feature = "reference")]
mod reports;
#[cfg(feature = "reference")]
mod simulate;
#[cfg(feature = "reference")]
mod stream;
#[cfg(not(feature = "reference"))]
mod stubs;
