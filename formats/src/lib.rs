//! What comes from files, and the tensors that it becomes: model folders, GGUF metadata,
//! tokenizers, chat templates.
//!
//! Beside them is [`request`]: what the network, the command line and both solutions share.
//!
//! This is the ground floor: it imports nothing else of the workspace.

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
#[cfg(feature = "vocabulary")]
pub mod text;
#[cfg(feature = "model")]
pub mod unfinished;

pub use finish::FinishReason;
pub use tensor::{Tensor, matmul};
