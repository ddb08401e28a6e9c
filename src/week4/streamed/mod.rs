//! Day 7: a model that is never in memory as a whole, on a machine without an operating system.
//!
//! The code here uses only `core`, so that it also builds for a microcontroller: no heap, no files,
//! no `f32::exp`. The files in reading order:
//!
//! - `shape`: the layout of the file
//! - `error`: errors without `String`
//! - `math`: functions that `core` lacks
//! - `int8`: rows of small integers
//! - `arena`: hands out memory
//! - `store`: reads weights
//! - `layer`: an int8 cache, attention and the MLP
//! - `head`: the best tokens of a vocabulary
//! - `engine`: runs the whole model, one component at a time

pub mod arena;
pub mod head;
pub mod int8;
pub mod layer;
pub mod store;

pub use crate::provided::week4::streamed::{engine, error, ledger, math, shape, storage};
