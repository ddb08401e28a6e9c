//! The reference engine in a page of the book. A browser runs it as WebAssembly. The native build
//! runs the same functions to compute the expected results (`src/bin/pack.rs`).
//!
//! In reading order: `watched` (a cache that records attention weights), `writer` (the embedded
//! model, one token at a time), `crowd` (week 3's engine without a model), `exports` (the functions
//! that a page calls).
//!
//! The browser's tokens, attention weights and schedules are compared with the results of the same
//! functions in the native build (`native.json`). A page fetches nothing before a reader asks for
//! it.

pub mod crowd;
pub mod exports;
pub mod watched;
pub mod writer;
