//! The reference engine in a page of the book. A browser runs it as WebAssembly. The native build
//! runs the same functions to compute the expected results (`src/bin/pack.rs`).
//!
//! In reading order: `watched` (a cache that notes where attention looks), `writer` (the embedded
//! model, a token at a time), `crowd` (week 3's engine without a model), `exports` (both as a page
//! calls them).
//!
//! The browser's tokens, attention weights and schedules are compared with what the same functions
//! return natively (`native.json`). A page fetches nothing before a reader asks for it.

pub mod crowd;
pub mod exports;
pub mod watched;
pub mod writer;
