//! Reads the files of a model: model folders, GGUF metadata, tokenizers and chat templates. Also
//! defines week 1's [`Tensor`].
//!
//! The module [`request`] defines the requests that the server, the command line and both solutions
//! (the learner's and the reference) share.
//!
//! This is the lowest crate: it imports no other crate of the workspace.

pub mod chat;
mod finish;
pub mod header;
pub mod request;
pub mod tensor;

#[cfg(feature = "model")]
pub mod bytes;
#[cfg(feature = "model")]
pub mod checkpoint;
#[cfg(feature = "model")]
pub mod config;
#[cfg(feature = "model")]
pub mod gguf;
#[cfg(feature = "model")]
pub mod hub;
#[cfg(feature = "model")]
mod json;
#[cfg(feature = "vocabulary")]
pub mod text;
#[cfg(feature = "model")]
pub mod unfinished;

pub use finish::FinishReason;
pub use tensor::{Tensor, matmul};
