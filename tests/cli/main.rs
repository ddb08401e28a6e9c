//! The command line as a user meets it: the binary is run, and what it prints and returns is looked
//! at.
//!
//! With the feature `reference` everything is checked. Without it the learner's code runs, in which
//! any task may still be missing: then each command must work or say in one line which task it
//! needs.
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
