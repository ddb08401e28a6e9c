//! Day 2: reading files.

pub mod metadata;
pub mod reader;
pub mod table;

pub use crate::provided::week2::gguf::*;
pub use crate::week2::writer;
