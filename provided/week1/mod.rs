//! Provided code of week 1. Its folders have the same names as those of `src/week1`.

// Day 5: the whole decoder, and its weights.
#[cfg(feature = "model")]
#[path = "model/activations.rs"]
pub mod activations;
#[cfg(feature = "model")]
#[path = "model/build.rs"]
pub mod build;
