//! What no task teaches and both solutions need: tensors, fixtures, assertions that explain,
//! model folders, tokenizer, chat template and the command line.
//!
//! Imports run one way: tests and solutions import the kit; the kit imports neither.

pub mod allocations;
pub mod chat;
pub mod check;
mod diagnosis;
mod difference;
pub mod fixtures;
pub mod tensor;

#[cfg(feature = "model")]
pub mod bytes;
#[cfg(feature = "model")]
pub mod checkpoint;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "model")]
pub mod config;
#[cfg(feature = "model")]
pub mod gguf;
#[cfg(feature = "text")]
pub mod text;
#[cfg(feature = "model")]
pub mod unfinished;

pub use tensor::{Tensor, matmul};
