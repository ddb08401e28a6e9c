//! Day 7: a model that is never in memory as a whole, on a machine without an operating system.
//!
//! The code here uses `core` and nothing from `std`, so that it builds for a microcontroller as
//! well: no heap, no files, no `f32::exp`. In reading order: `shape` (the file, and where each of
//! its components is), `error`, `math`, `int8` (rows of small integers), `arena` (hands out
//! memory), `store` (hands out weights), `layer` (an int8 cache, attention, the MLP), `head` (the
//! best tokens of a vocabulary), `engine` (runs the whole model in order).

pub mod arena;
pub mod head;
pub mod int8;
pub mod layer;
pub mod store;

pub use crate::provided::week4::streamed::{engine, error, ledger, math, shape, storage};
